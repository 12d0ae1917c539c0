// Removals and imports that are killed half-way: afterwards, nothing looks complete that is not, and repeating or restarting completes it.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type CommitProxy,
  canTrace,
  killAtWrite,
  startCommitProxy,
} from '../support/faults/write-killer.ts'
import { callServer } from '../support/server/call-server.ts'
import { databaseKeys, TEST_JWT_SECRET } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const password = 'a good password'
/** Of the writes of one removal or import. All of them in the long form. */
const IS_FULL = process.env.FAULTS === 'full'
const MOMENTS = IS_FULL ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : [1, 3]
const MESSAGES = 600

describe.each(DIALECTS)('a server that is killed (%s)', (dialect) => {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-removals-'))
  let proxy: CommitProxy | null = null
  let place: ServerPlace
  let server: ServerProcess
  let admin: string

  beforeAll(async () => {
    const settings = await databases.migrated(dialect)
    let keys = databaseKeys(settings)
    if (settings.dialect === 'postgres' && 'url' in settings.connection) {
      const url = new URL(settings.connection.url)
      proxy = await startCommitProxy({ host: url.hostname, port: Number(url.port || 5432) })
      url.host = `127.0.0.1:${proxy.port}`
      keys = databaseKeys({ ...settings, connection: { url: url.href } })
    }
    place = await serverPlace(folder, { ...keys, auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    server = await place.start()
    admin = await register('admin')
  })
  afterAll(async () => {
    await place.close()
    proxy?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = (method: string, path: string, token: string, body?: unknown) =>
    callServer(server.url, method, path, body, { authorization: `Bearer ${token}` })
  async function register(username: string): Promise<string> {
    const { data } = await callServer(server.url, 'POST', '/api/auth/register', {
      username,
      password,
    })
    return data.token
  }

  /** How many requests of a test ended with the server; those that had fewer writes than that did not. */
  let struck = 0
  beforeEach(() => {
    struck = 0
  })
  afterEach(({ task }) => {
    if (task.mode === 'run') expect(struck).toBeGreaterThan(0)
  })

  /** Sends the request and kills the server at its n-th write, or after the response if it had fewer; then starts it again. */
  async function killedAt(n: number, request: () => Promise<unknown>): Promise<void> {
    if (proxy === null) await killAtWrite(server.pid, 'fdatasync', n)
    else proxy.killAt(n, 'before', () => process.kill(server.pid, 'SIGKILL'))
    await request().catch(() => {
      struck += 1
    })
    proxy?.disarm()
    await server.kill('SIGKILL')
    server = await place.start()
  }

  const folders = (): string[] =>
    existsSync(join(folder, 'workspaces'))
      ? readdirSync(join(folder, 'workspaces'), { recursive: true, encoding: 'utf8' })
      : []

  async function accountWithProjects(username: string) {
    const token = await register(username)
    const { id } = (await call('GET', '/api/auth/profile', token)).data
    const projects: string[] = []
    for (const name of ['One', 'Two']) {
      const project = (await call('POST', '/api/projects', token, { name })).data.id
      await call('PUT', `/api/projects/${project}/files/a.txt`, token, { content: name })
      projects.push(project)
    }
    return { token, id: String(id), projects }
  }

  test.skipIf(dialect === 'sqlite' && !canTrace)(
    'while it deletes an account leaves nothing of it once the deletion is repeated',
    async () => {
      for (const n of MOMENTS) {
        const account = await accountWithProjects(`leaver${n}`)
        const path = `/api/admin/users/${account.id}`
        await killedAt(n, () => call('DELETE', path, admin))
        const again = await call('DELETE', path, admin)
        expect([200, 404]).toContain(again.status)
        await expect
          .poll(() => folders().filter((name) => account.projects.some((id) => name.includes(id))))
          .toEqual([])
        const { items } = (await call('GET', '/api/admin/users', admin)).data
        expect(items.map(({ id }: { id: string }) => id)).not.toContain(account.id)
      }
    },
  )

  test.skipIf(dialect === 'sqlite' && !canTrace)(
    'while it hands an account over loses nothing of it, whoever receives it when the deletion is repeated',
    async () => {
      // In PostgreSQL, when the folder of a project has moved and its row has not.
      for (const n of IS_FULL ? MOMENTS : dialect === 'sqlite' ? [1, 2] : [3, 4]) {
        const account = await accountWithProjects(`giver${n}`)
        const title = `Of the giver ${n}`
        await call('POST', '/api/conversations', account.token, { title })
        await call('PUT', '/api/memory', account.token, { content: `Note ${n}.\n` })
        const heirs = [await register(`first${n}`), await register(`second${n}`)]
        const path = `/api/admin/users/${account.id}?data=hand_over&heir_id=`
        const ids: string[] = []
        for (const heir of heirs) ids.push((await call('GET', '/api/auth/profile', heir)).data.id)
        await killedAt(n, () => call('DELETE', path + ids[0], admin))
        const again = await call('DELETE', path + ids[1], admin)
        expect([200, 404]).toContain(again.status)
        const [titles, contents, memories]: [string[], string[], string[]] = [[], [], []]
        for (const heir of heirs) {
          const list = (await call('GET', '/api/conversations', heir)).data.items
          titles.push(...list.map((one: { title: string }) => one.title))
          memories.push((await call('GET', '/api/memory', heir)).data.content)
          for (const { id } of (await call('GET', '/api/projects', heir)).data.items)
            contents.push((await call('GET', `/api/projects/${id}/files/a.txt`, heir)).data.content)
        }
        expect([titles, contents.toSorted()]).toEqual([[title], ['One', 'Two']])
        expect(memories.join('')).toContain(`Note ${n}.`)
        expect(folders().filter((name) => name.startsWith(`${account.id}/`))).toEqual([])
      }
    },
  )

  // SQLite has stored the row of a project whose folder has moved before anything can end the process.
  test.skipIf(dialect === 'sqlite')(
    'while it hands an account over loses nothing of it if the account is enabled again instead',
    async () => {
      for (const n of IS_FULL ? MOMENTS : [3]) {
        const account = await accountWithProjects(`returner${n}`)
        const heir = await register(`heir${n}`)
        const heirId = (await call('GET', '/api/auth/profile', heir)).data.id
        const path = `/api/admin/users/${account.id}`
        await killedAt(n, () => call('DELETE', `${path}?data=hand_over&heir_id=${heirId}`, admin))
        const enabled = await call('PATCH', path, admin, { is_active: true })
        // Handed over completely.
        if (enabled.status === 404) continue
        const { data } = await callServer(server.url, 'POST', '/api/auth/login', {
          username: `returner${n}`,
          password,
        })
        const contents: string[] = []
        for (const token of [data.token, heir])
          for (const { id } of (await call('GET', '/api/projects', token)).data.items)
            contents.push(
              (await call('GET', `/api/projects/${id}/files/a.txt`, token)).data.content,
            )
        expect(contents.toSorted()).toEqual(['One', 'Two'])
      }
    },
  )

  test.skipIf(dialect === 'sqlite' && !canTrace)(
    'while it deletes a project keeps all of it or nothing',
    async () => {
      const account = await accountWithProjects('owner')
      for (const n of MOMENTS) {
        const { token } = account
        const name = `Project ${n}`
        const id = (await call('POST', '/api/projects', token, { name })).data.id
        const file = `/api/projects/${id}/files/a.txt`
        await call('PUT', file, token, { content: 'kept' })
        await killedAt(n, () => call('DELETE', `/api/projects/${id}`, token))
        const { status } = await call('GET', `/api/projects/${id}`, token)
        if (status === 200) {
          expect((await call('GET', file, token)).data.content).toBe('kept')
          expect((await call('DELETE', `/api/projects/${id}`, token)).status).toBe(200)
        } else expect(status).toBe(404)
        await expect.poll(() => folders().filter((one) => one.includes(id))).toEqual([])
      }
    },
  )

  test.skipIf(dialect === 'sqlite' && !canTrace)(
    'while it imports a conversation lists all of it or nothing',
    async () => {
      const token = await register('importer')
      const source = (await call('POST', '/api/conversations', token, { title: 'Long' })).data.id
      const exported = await fetch(`${server.url}/api/conversations/${source}/export?format=json`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const document = z.looseObject({ format: z.string() }).parse(await exported.json())
      await call('DELETE', `/api/conversations/${source}?permanent=true`, token)
      const messages = Array.from({ length: MESSAGES }, (_, index) => ({
        id: `m${index}`,
        parent_id: index === 0 ? null : `m${index - 1}`,
        role: index % 2 === 0 ? 'user' : 'assistant',
        text: `Message ${index} ${'x'.repeat(1_000)}`,
        attachments: [],
        steps: [],
        token_count: 0,
        model: null,
        status: 'completed',
        error: null,
        created_at: new Date(1_700_000_000_000 + index).toISOString(),
      }))
      for (const n of MOMENTS) {
        await killedAt(n, () =>
          call('POST', '/api/conversations/import', token, { ...document, messages }),
        )
        const { items } = (await call('GET', '/api/conversations', token)).data
        for (const { id, message_count } of items) {
          expect(message_count).toBe(MESSAGES)
          await call('DELETE', `/api/conversations/${id}?permanent=true`, token)
        }
      }
      // It was not refused for another reason: unharmed, it is complete.
      const whole = await call('POST', '/api/conversations/import', token, {
        ...document,
        messages,
      })
      expect(whole.data).toMatchObject({ messages: MESSAGES })
    },
  )
})
