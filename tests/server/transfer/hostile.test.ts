// Imports of files that are broken, hostile or too large, over real HTTP.
import { beforeAll, describe, expect, test } from 'vitest'
import { chatGpt, node, said, simple } from '../../support/chatgpt-exports.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { importFile, uploadImport, zipOf } from '../../support/server/transfers.ts'

describe('imports of hostile files', () => {
  const { start } = useServers()
  let server: TestServer
  let token = ''
  let users = 0
  beforeAll(async () => {
    server = await start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, limits: { import: '20MB' } },
    })
    token = await register(server, 'ann')
  })
  const get = async (path: string, as: string) =>
    (await server.call('GET', path, { token: as })).json.data
  const newUser = (): Promise<string> => {
    users += 1
    return register(server, `user${users}`)
  }

  test('a conversation with too deep nesting or too many messages is skipped, one with a circle has a new beginning, and the others are imported', async () => {
    const loop = chatGpt(
      'loop',
      [node('a', 'b', 'user', said('x')), node('b', 'a', 'user', said('y'))],
      'b',
    )
    const orphan = chatGpt('orphan', [node('o', 'nobody', 'user', said('alone'))], 'o')
    const long = chatGpt(
      'long',
      Array.from(
        { length: 100_001 },
        (_, at) =>
          ({
            parent: at === 0 ? 'root' : `n${at - 1}`,
            message: { author: { role: 'user' }, content: said('.') },
            id: `n${at}`,
          }) as never,
      ),
      'n0',
    )
    const json = `[${JSON.stringify(loop)},{"title":"deep","mapping":${'['.repeat(200_000)}${']'.repeat(200_000)}},${JSON.stringify(long)},{"title": broken},${JSON.stringify(orphan)}]`
    const job = await importFile(server, token, {
      name: 'x.json',
      content: json,
      format: 'chatgpt',
    })
    expect(job).toMatchObject({ status: 'completed', report: { conversations: 2, messages: 3 } })
    expect(job.report.skipped).toMatchObject([
      { what: 'b', reason: 'import_unreadable', params: { detail: 'parent' } },
      { reason: 'import_unreadable' },
      { what: 'Chat long', reason: 'import_too_many_messages', params: { limit: 100_000 } },
      { reason: 'import_json_damaged' },
    ])
  })

  const encrypted = (): Uint8Array => {
    const zip = zipOf({ 'conversations.json': [simple('secret')] })
    // The flag of both headers says that the entry is encrypted.
    for (let at = 0; at < zip.length - 4; at += 1) {
      const magic = Buffer.from(zip.subarray(at, at + 4)).toString('latin1')
      if (magic === 'PK\x03\x04') zip[at + 6] = 1 | (zip[at + 6] ?? 0)
      if (magic === 'PK\x01\x02') zip[at + 8] = 1 | (zip[at + 8] ?? 0)
    }
    return zip
  }
  const symlink = (): Uint8Array => {
    const zip = zipOf({ 'conversations.json': '/etc/passwd' })
    const at = Buffer.from(zip).indexOf('PK\x01\x02', 0, 'latin1')
    new DataView(zip.buffer).setUint32(at + 38, 0o120777 << 16, true)
    return zip
  }

  test.each([
    [
      'a bomb',
      () => zipOf({ 'conversations.json': new Uint8Array(40_000_000) }),
      'import_archive_bomb',
    ],
    [
      'an archive beyond the limit',
      () => zipOf({ 'a.json': new Uint8Array(15_000_000), 'b.json': new Uint8Array(15_000_000) }),
      'import_archive_too_large',
    ],
    [
      'names that leave the archive',
      () => zipOf({ '../../conversations.json': [simple('t')] }),
      'import_entry_unsafe',
    ],
    ['a link', symlink, 'import_entry_link'],
    ['an encrypted archive', encrypted, 'import_archive_encrypted'],
    [
      'a truncated archive',
      () => zipOf({ 'conversations.json': [simple('t')] }).subarray(0, 200),
      'import_archive_damaged',
    ],
    ['something else', () => Buffer.from('%PDF-1.7'), 'import_json_damaged'],
    ['an unknown form', () => Buffer.from('[{"a":1}]'), 'import_format_unknown'],
    [
      'another SQLite file',
      () => Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5_000)]),
      'import_database_unreadable',
    ],
  ])(
    'an import of %s fails with a clear reason, and nothing is imported',
    async (_what, file, reason) => {
      const user = await newUser()
      const job = await importFile(server, user, { name: 'x.zip', content: file() })
      expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(/\w+ \w+/) })
      expect(job.reason).toMatch(reason)
      expect((await get('/api/conversations', user)).items).toEqual([])
    },
  )

  test("a file beyond the limit returns 413, a second simultaneous import 409, and another user's import 404", async () => {
    const user = await newUser()
    const large = await uploadImport(server, user, {
      name: 'x.json',
      content: new Uint8Array(21_000_000),
    })
    expect(large).toMatchObject({ status: 413, json: { reason: 'import_upload_too_large' } })
    const many = JSON.stringify(Array.from({ length: 300 }, (_, at) => simple(`n${at}`)))
    const first = await uploadImport(server, user, { name: 'x.json', content: many })
    const second = await uploadImport(server, user, { name: 'x.json', content: many })
    expect([first.status, second.status]).toEqual([200, 409])
    expect((await server.call('GET', `/api/imports/${first.json.data.id}`, { token })).status).toBe(
      404,
    )
    await expect
      .poll(
        async () => (await get(`/api/imports/${first.json.data.id}`, user)).report?.conversations,
      )
      .toBe(300)
  })
})
