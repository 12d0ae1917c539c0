// The texts of imports and shared copies within a user's storage, on both databases.
import { zipSync } from 'fflate'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { importFile } from '../../support/server/transfers.ts'

const KB = 1024

describeOnEachServer('the storage for texts', (start) => {
  let server: TestServer
  let token = ''
  let admin = ''
  let made = 0
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      limits: { storage: '1MB' },
    })
    admin = await register(server, 'admin')
  })
  beforeEach(async () => {
    token = await register(server, `user${++made}`)
  })

  /** A conversation whose texts have this many bytes: half in the question, half in steps of the answer. */
  const conversation = (bytes: number) => {
    const at = '2026-01-01T00:00:00.000Z'
    const plain = { token_count: 1, model: null, status: 'completed', error: null, created_at: at }
    const half = 'x'.repeat(bytes / 4)
    return {
      format: 'nanoclaw',
      version: 1,
      conversation: {
        title: 'Long',
        model: null,
        system_prompt: null,
        temperature: null,
        max_tokens: null,
        thinking_enabled: false,
        pinned: false,
        archived: false,
        leaf_id: 'b',
        created_at: at,
        updated_at: at,
      },
      messages: [
        {
          ...plain,
          id: 'a',
          parent_id: null,
          role: 'user',
          text: half + half,
          attachments: [],
          steps: [],
        },
        {
          ...plain,
          id: 'b',
          parent_id: 'a',
          role: 'assistant',
          text: '',
          attachments: [],
          steps: [
            { id: 'step-0', index: 0, type: 'thinking', content: half },
            { id: 'step-1', index: 1, type: 'text', content: half },
          ],
        },
      ],
    }
  }
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, { token, body })
  const take = (bytes: number) => call('POST', '/api/conversations/import', conversation(bytes))
  const listed = async () => (await call('GET', '/api/conversations')).json.data.items
  const isRefused = {
    status: 413,
    json: { error: 'quota_exceeded', reason: 'quota_texts_refused' },
  }

  test('is not exceeded by one import, and a refused one leaves nothing', async () => {
    expect(await take(3_000 * KB)).toMatchObject({ status: 413, json: { error: 'quota_exceeded' } })
    expect(await listed()).toEqual([])
    expect((await take(900 * KB)).status).toBe(200)
  })

  test('is not exceeded by several imports, until a conversation is deleted for good', async () => {
    const first = await take(600 * KB)
    expect(first.status).toBe(200)
    const refused = await take(600 * KB)
    expect(refused).toMatchObject(isRefused)
    expect(refused.json.message).toContain('1 MB')
    expect(await listed()).toHaveLength(1)
    await call('DELETE', `/api/conversations/${first.json.data.id}?permanent=true`)
    expect((await take(600 * KB)).status).toBe(200)
  })

  test('is not exceeded by imports at once', async () => {
    const answers = await Promise.all([0, 1, 2, 3].map(() => take(400 * KB)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
    for (const status of statuses) expect([200, 413]).toContain(status)
  })

  test('is not exceeded by an archive, and the import says why it ended', async () => {
    const message = (uuid: string) => ({
      uuid,
      sender: 'human',
      text: 'x'.repeat(300 * KB),
      created_at: '2026-01-02T03:04:05Z',
      attachments: [],
      files: [],
    })
    const archive = JSON.stringify(
      Array.from({ length: 10 }, (_, index) => ({
        uuid: `c${index}`,
        name: `Conversation ${index}`,
        created_at: '2026-01-02T03:04:05Z',
        updated_at: '2026-01-02T04:00:00Z',
        chat_messages: [message(`m${index}`)],
      })),
    )
    const content = zipSync({ 'conversations.json': Buffer.from(archive) })
    const job = await importFile(server, token, { name: 'export.zip', content })
    expect(job).toMatchObject({ status: 'failed', reason: 'import_storage_full' })
    expect(job.report.conversations).toBe(3)
    expect(await listed()).toHaveLength(3)
  })

  test('is not exceeded by shared copies, and a refused one leaves nothing', async () => {
    const { id } = (await take(600 * KB)).json.data
    for (const _ of [1, 2, 3])
      expect(
        await call('POST', `/api/conversations/${id}/share`, { include: ['thinking'] }),
      ).toMatchObject(isRefused)
    expect((await take(300 * KB)).status).toBe(200)
  })

  test('is not exceeded by edited answers, messages and new conversations, until something is deleted', async () => {
    const { id: userId } = (await call('GET', '/api/auth/profile')).json.data
    const allow = (storage: number) =>
      server.call('PATCH', `/api/admin/users/${userId}`, {
        token: admin,
        body: { quota: { storage } },
      })
    await allow(40_000 * KB)
    const { id } = (await take(3_000 * KB)).json.data
    const { items } = (await call('GET', `/api/conversations/${id}/messages`)).json.data
    const answer = items.find(({ role }: { role: string }) => role === 'assistant')
    // Each copies the steps of the answer.
    const revise = () =>
      call('POST', `/api/conversations/${id}/messages/${answer.id}/revisions`, { text: 'Short' })
    for (let count = 0; count < 23; count += 1) expect((await revise()).status).toBe(200)
    const other = (await call('POST', '/api/conversations', {})).json.data

    // No less than 16 MB, because who may not store files may chat.
    await allow(0)
    const answers = [await revise(), await revise()]
    expect(answers.at(-1)).toMatchObject(isRefused)
    expect(await call('POST', '/api/conversations', {})).toMatchObject(isRefused)
    const send = () => call('POST', `/api/conversations/${other.id}/messages`, { text: 'Hello' })
    expect(await send()).toMatchObject(isRefused)
    await call('DELETE', `/api/conversations/${id}?permanent=true`)
    expect((await call('POST', '/api/conversations', {})).status).toBe(200)
  })

  test('counts shared copies until they end', async () => {
    const { id } = (await take(400 * KB)).json.data
    const share = `/api/conversations/${id}/share`
    const stored = async () => {
      const { items } = (await call('GET', '/api/quota/storage')).json.data
      return Object.fromEntries(
        items.map((item: { kind: string; bytes: number; count: number }) => [item.kind, item]),
      )
    }
    expect((await call('POST', share, { include: ['thinking'] })).status).toBe(200)
    expect(await take(400 * KB)).toMatchObject(isRefused)
    const { conversations, shares } = await stored()
    expect(conversations).toMatchObject({ count: 1 })
    for (const { bytes } of [conversations, shares]) {
      expect(bytes).toBeGreaterThanOrEqual(400 * KB)
      expect(bytes).toBeLessThan(410 * KB)
    }
    expect((await call('DELETE', share)).status).toBe(200)
    expect((await stored()).shares).toMatchObject({ bytes: 0, count: 0 })
    expect((await take(400 * KB)).status).toBe(200)
  })
})
