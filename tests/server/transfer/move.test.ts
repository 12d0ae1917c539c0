// Moving to another server: what is found, shared and exported on SQLite is found again on PostgreSQL after the import.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { exportBundle, importFile } from '../../support/server/transfers.ts'
import { uploadFile } from '../../support/server/uploads.ts'

const upstream = await useUpstream()
const { start } = useServers()
const PDF = join(import.meta.dirname, '../../fixtures/documents/handbook-zh.pdf')

test('a question about a PDF is found by a Chinese word on its page, shared, revoked, exported, and found on the second server', async () => {
  const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
  const first = await start({ config: { ...scripted(upstream), ...multi } })
  const second = await start({ config: multi, dialect: 'postgres' })
  const [ann, bob] = [await register(first, 'ann'), await register(second, 'bob')]
  const found = async (server: TestServer, token: string, q: string) =>
    (await server.call('GET', `/api/search?q=${encodeURIComponent(q)}`, { token })).json.data.items

  const file = await uploadFile(first.url, 'handbook.pdf', readFileSync(PDF), { token: ann })
  const created = await first.call('POST', '/api/conversations', { token: ann, body: {} })
  const path = `/api/conversations/${created.json.data.id}`
  upstream.enqueue(turn.text('Twelve days.'))
  const sent = await first.call('POST', `${path}/messages`, {
    token: ann,
    body: { text: 'How much leave?', attachments: [{ file_id: file.json.data.id }], stream: false },
  })
  expect(sent.status, JSON.stringify(sent.json)).toBe(200)
  const hit = { type: 'file', page: 2, role: 'user' }
  for (const q of ['带薪年假', '薪'])
    expect(await found(first, ann, q), q).toMatchObject([{ ...hit, file_id: file.json.data.id }])

  const shared = await first.call('POST', `${path}/share`, { token: ann, body: {} })
  const page = () => fetch(`${first.url}/s/${shared.json.data.token}`)
  expect(await (await page()).text()).toContain('Twelve days.')
  await first.call('DELETE', `${path}/share`, { token: ann })
  expect((await page()).status).toBe(404)

  const { bytes } = await exportBundle(first, ann)
  const bundle = { name: 'bundle.zip', content: bytes }
  expect((await importFile(second, bob, bundle)).report).toMatchObject({
    ...{ conversations: 1, messages: 2, files: 1, skipped_total: 0 },
  })
  for (const q of ['带薪年假', '薪'])
    expect(await found(second, bob, q), q).toMatchObject([{ ...hit, title: 'How much leave?' }])
  expect((await importFile(second, bob, bundle)).report).toMatchObject({ conversations: 0 })
})
