// What a thief of the database finds there of tokens, keys, links and second factors.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

const databases = useDatabases()
const { start } = useServers()
const upstream = await useUpstream()

test('the database contains no password, token, link, second factor or recovery code that could be used, only hashes and sealed texts', async () => {
  const settings = await databases.migrated('sqlite')
  if (settings.dialect !== 'sqlite') throw new Error('not a file')
  const server = await start({
    config: {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      ...databaseKeys(settings),
    },
  })
  const token = await register(server, 'ada')
  const post = async (path: string, body: object) => {
    const response = await server.call('POST', path, { body, token })
    expect([path, response.status]).toEqual([path, 200])
    return response
  }
  const password = 'a good password'
  const login = { username: 'ada', password, cookie: true }
  const page = await post('/api/auth/login', login)
  const { key } = (await post('/api/auth/keys', { name: 'laptop' })).json.data
  const invitation = (await post('/api/admin/invitations', {})).json.data.token
  const users = (await server.call('GET', '/api/admin/users', { token })).json.data.items
  const reset = (await post(`/api/admin/users/${users[0].id}/reset-link`, {})).json.data.token
  const { secret } = (await post('/api/auth/totp', { current_password: password })).json.data
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const codes = (await post('/api/auth/totp/confirm', { code })).json.data.recovery_codes
  const project = (await post('/api/projects', { name: 'Files' })).json.data.id
  const conversation = (await post('/api/conversations', { project_id: project })).json.data.id
  upstream.enqueue(
    turn.toolCalls([{ name: 'file_write', arguments: { path: 'a.txt', content: 'x' } }]),
  )
  const run = await openEvents(`${server.url}/api/conversations/${conversation}/messages`, {
    token,
    body: { text: 'Go', stream_mode: 'delta' },
  })
  const waits = await run.next(({ event }) => event === 'approval_required')
  const request = `/api/approvals/${waits.data.approval_id}/link`
  const approval = new URL((await post(request, {})).json.data.url).pathname.slice('/a/'.length)
  await server.server.appsServer?.listen({ host: '127.0.0.1', port: 0 })
  await server.call('PUT', `/api/projects/${project}/files/a.html`, {
    token,
    body: { content: 'an app' },
  })
  const opened = await post('/api/apps', { project_id: project, path: 'a.html' })
  const app = new URL(opened.json.data.url).pathname.split('/')[2] ?? ''

  const bytes = Buffer.concat(
    [settings.file, `${settings.file}-wal`].map((file) => readFileSync(file)),
  )
  const cookie = page.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? ''
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  // What is stored is found in this way.
  for (const stored of ['ada', ...[key, invitation, reset, approval, app].map(sha256)])
    expect(bytes.includes(stored)).toBe(true)
  const links = { invitation, reset, approval, app }
  const usable = { password, token, cookie, key, ...links, secret, code: codes[0] }
  for (const [name, text] of Object.entries<string>(usable)) {
    expect([name, text.length > 7]).toEqual([name, true])
    expect([name, bytes.includes(text)]).toEqual([name, false])
  }
})
