// `nanoclaw move` as operators and users see it: everything works on the other database, and the earlier one is refused.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { commands } from '../../../server/cli.ts'
import { backUp, restore } from '../../../server/commands/backup.ts'
import { move } from '../../../server/commands/move.ts'
import { type LoadedConfig, parseConfig } from '../../../server/config/load.ts'
import type { Config } from '../../../server/config/schema.ts'
import type { DatabaseSettings } from '../../../server/db/database.ts'
import { moveDatabase } from '../../../server/db/move/move.ts'
import { eventually } from '../../support/eventually.ts'
import {
  databaseKeys,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const databases = useDatabases()
const { start } = useServers()
const root = mkdtempSync(join(tmpdir(), 'nanoclaw-move-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }
const password = 'a good password'

/** An installation whose database can be replaced by another one. */
function place(name: string) {
  const folder = join(root, name)
  mkdirSync(folder)
  return {
    folder,
    config: (database: DatabaseSettings) =>
      parseConfig(
        JSON.stringify({
          data_dir: join(folder, 'data'),
          workspace_root: join(folder, 'workspaces'),
          ...multi,
          ...databaseKeys(database),
        }),
        {},
      ),
    begin: (database: DatabaseSettings) =>
      start({ folder, config: { ...multi, ...databaseKeys(database) } }),
  }
}

/** A configuration as a command receives it. */
const loadedOf = (config: Config): LoadedConfig => ({
  config,
  file: null,
  presets: null,
  unknownVariables: [],
  sourceOf: () => null,
})

const targetName = (settings: DatabaseSettings): string => {
  if (settings.dialect === 'sqlite') return settings.file
  return 'url' in settings.connection ? settings.connection.url : ''
}

const sessionOf = (headers: Headers): string =>
  /nanoclaw_session\w*=([^;]+)/.exec(headers.getSetCookie().join('; '))?.[1] ?? ''
/** Its name contains the port, which each start of a test chooses anew. */
const cookieFor = ({ url }: TestServer, session: string): string =>
  `nanoclaw_session_${new URL(url).port}=${session}`

/** Creates one of each. @returns a check that all of it still works, with the credentials of before. */
async function fill(server: TestServer) {
  const registered = await server.call('POST', '/api/auth/register', {
    body: { username: 'ann', password, cookie: true },
  })
  let session = sessionOf(registered.headers)
  const token: string = registered.json.data.token
  const post = async (path: string, body: object) =>
    (await server.call('POST', path, { token, body })).json.data
  const { key } = await post('/api/auth/keys', { name: 'script' })
  const conversation = await post('/api/conversations', { title: 'About herons' })
  const share = await post(`/api/conversations/${conversation.id}/share`, { password: 'sesame' })
  const webhook = await post('/api/webhooks', {
    url: 'https://hooks.example/a',
    events: ['run.ended'],
  })
  const file = (await uploadFile(server.url, 'heron.txt', 'a heron', { token })).json.data.id
  const project = (await post('/api/projects', { name: 'Birds' })).id
  const content = `/api/projects/${project}/files/content?path=bird.txt`
  await server.call('PUT', content, { token, body: { content: 'a wren' } })
  const { secret } = await post('/api/auth/totp', { current_password: password })
  const code = (ahead: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead })
  await post('/api/auth/totp/confirm', { code: code(0) })

  return async (again: TestServer): Promise<void> => {
    const get = async (path: string, bearer = token) =>
      (await again.call('GET', path, { token: bearer })).json.data
    expect((await get('/api/auth/keys')).items).toHaveLength(1)
    const renewed = await again.call('POST', '/api/auth/refresh', {
      headers: { cookie: cookieFor(again, session) },
    })
    expect(renewed.status).toBe(200)
    session = sessionOf(renewed.headers)
    expect((await get('/api/conversations', key)).items).toMatchObject([{ id: conversation.id }])
    const opened = await again.call('GET', `/api/shared/${share.token}`, {
      headers: { 'x-share-password': 'sesame' },
    })
    expect(opened.json.data.title).toBe('About herons')
    expect((await get('/api/webhooks')).items).toMatchObject([{ id: webhook.id }])
    expect((await get(content)).content).toBe('a wren')
    const download = await fetch(`${again.url}/api/files/${file}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await download.text()).toBe('a heron')
    // The password is still right, and the second factor still needed; the secret opens with the key of this folder.
    const login = await again.call('POST', '/api/auth/login', {
      body: { username: 'ann', password },
    })
    expect(login.json.details).toMatchObject({ challenge: expect.any(String) })
    await eventually(async () => {
      const found = await get('/api/search?q=herons')
      expect(JSON.stringify(found)).toContain(conversation.id)
    })
  }
}

test.each(DIALECTS)(
  'after a move from SQLite and after the way back, sessions, keys, shares, files and second factors work, and the earlier database is refused (%s)',
  async (dialect) => {
    const { config, begin } = place(`story-${dialect}`)
    const source = await databases.migrated('sqlite')
    const server = await begin(source)
    const expectAll = await fill(server)
    const there = await databases.migrated(dialect)
    const go = (from: DatabaseSettings, to: DatabaseSettings) =>
      move(config(from), targetName(to), () => {})
    await expect(go(source, there)).rejects.toThrow(/Another NanoClaw process/)
    await server.close()
    await expect(go(source, source)).rejects.toThrow(/configured already/)
    expect((await go(source, there)).join('\n')).toMatch(/^Moved \d+ rows of \d+ tables/)
    expect((await go(source, there)).join('\n')).toMatch(/this move is complete/)
    await expect(go(source, await databases.settings('sqlite'))).rejects.toThrow(/was moved at/)
    await expect(begin(source)).rejects.toThrow(/was moved at .* older state.*admin adopt/)

    const moved = await begin(there)
    await expectAll(moved)
    await moved.close()
    const back = await databases.settings('sqlite')
    await go(there, back)
    const again = await begin(back)
    await expectAll(again)
    await again.close()
    await expect(begin(there)).rejects.toThrow(/was moved at/)
  },
)

test.each(DIALECTS)(
  'a database into which a move was interrupted is refused by the start, which names the command that completes it (%s)',
  async (dialect) => {
    const { begin, config } = place(`unfinished-${dialect}`)
    const source = await databases.migrated('sqlite')
    const target = await databases.migrated(dialect)
    const interrupted = moveDatabase(source, target, {
      source: 'one',
      onTable(name) {
        if (name === 'steps') throw new Error('interrupted')
      },
    })
    await expect(interrupted).rejects.toThrow('interrupted')
    await expect(begin(target)).rejects.toThrow(/interrupted.*Run the same `nanoclaw move` again/)
    const elsewhere = targetName(await databases.settings('sqlite'))
    await expect(move(config(target), elsewhere, () => {})).rejects.toThrow(/is not complete/)
  },
)

test('the command needs a target, and refuses an address of another kind of database', async () => {
  const { config } = place('usage')
  const source = await databases.migrated('sqlite')
  const run = (options: ReadonlyMap<string, string>) =>
    commands.move?.run({
      loaded: loadedOf(config(source)),
      operands: [],
      flags: new Set(),
      options,
      webRoot: '',
    })
  expect(await run(new Map())).toMatchObject({
    status: 1,
    lines: [expect.stringMatching(/^Usage: nanoclaw move --to/), expect.any(String)],
  })
  expect(await run(new Map([['to', 'mysql://127.0.0.1/x']]))).toMatchObject({
    status: 1,
    lines: [expect.stringContaining('--to takes the address of a PostgreSQL database')],
  })
})

/** Without PostgreSQL, nothing. */
const crossings = DIALECTS.flatMap((from) =>
  DIALECTS.filter((to) => to !== from).map((to) => [from, to] as const),
)

for (const [from, to] of crossings)
  test(`a backup of ${from} restores into ${to}`, async () => {
    const keys = { configured: undefined, previous: undefined }
    const first = place(`backup-${from}`)
    const source = await databases.migrated(from)
    const server = await first.begin(source)
    const expectAll = await fill(server)
    const folder = join(root, `backup-of-${from}`)
    await backUp(first.config(source), folder, keys)
    await server.close()
    const second = place(`restored-${from}`)
    const target = await databases.settings(to)
    const result = await restore(second.config(target), folder, { keys, isPartial: false })
    expect(result).toEqual({ lines: [], isComplete: true })
    const restored = await second.begin(target)
    await expectAll(restored)
    await restored.close()
  })
