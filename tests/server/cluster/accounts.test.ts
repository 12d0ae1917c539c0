// Two instances with accounts: what ends through one of them ends at the other, and files are the same through both.
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { useClusters } from '../../support/server/cluster.ts'
import { type EventReader, openEvents } from '../../support/server/events.ts'
import { type Link, startLink } from '../../support/server/link.ts'
import { register, TEST_JWT_SECRET, type TestServer } from '../../support/server/server.ts'
import { uploadImport } from '../../support/server/transfers.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { hasRedis, REDIS_URL } from '../../support/store/redis.ts'

const MEGABYTE = 1024 * 1024
/** Many times what a read or a write of a file takes at once. */
const LARGE = 12 * MEGABYTE

describe.skipIf(!hasRedis)('two instances with accounts', () => {
  const { start } = useClusters()
  let link: Link
  let one: TestServer
  let other: TestServer
  let token: string
  let setUp: { paths: (string | null)[]; opened: number }

  beforeAll(async () => {
    const target = new URL(REDIS_URL)
    link = await startLink({ host: target.hostname, port: Number(target.port || 6379) })
    const { instances } = await start(2, {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      redis_url: `redis://127.0.0.1:${link.port}`,
    })
    const [first, second] = instances
    if (first === undefined || second === undefined) throw new Error('two were started')
    one = first
    other = second
    const paths = [one, other].map(({ server }) => server.setupPath)
    const body = { link: paths[0]?.split('#')[1] }
    setUp = { paths, opened: (await other.call('POST', '/api/auth/links', { body })).status }
    token = await register(one, 'ann')
  })
  afterAll(() => link.close())

  describe('what an administrator changes through one instance applies at the other at once', () => {
    /** Shorter than the interval at which an instance reads everything again; several times, because it may just end. */
    const AT_ONCE = { timeout: 2_000 }
    const ROUNDS = 3

    async function as(
      server: TestServer,
      method: string,
      path: string,
      body?: object,
      by = token,
    ): Promise<Awaited<ReturnType<TestServer['call']>>> {
      return await server.call(method, path, { token: by, ...(body && { body }) })
    }
    const setTo = async (settings: object) =>
      expect((await as(one, 'PATCH', '/api/admin/settings', settings)).status).toBe(200)

    test('sharing that is switched off or on', async () => {
      const { json } = await as(one, 'POST', '/api/conversations', {})
      const shared = await as(one, 'POST', `/api/conversations/${json.data.id}/share`, {})
      const visit = async () =>
        (await other.call('GET', `/api/shared/${shared.json.data.token}`)).status
      expect(await visit()).toBe(200)
      for (let round = 0; round < ROUNDS; round += 1) {
        await setTo({ sharing: 'off' })
        await expect.poll(visit, AT_ONCE).toBe(404)
        await setTo({ sharing: 'on' })
        await expect.poll(visit, AT_ONCE).toBe(200)
      }
    })

    test('registration that is closed or opened', async () => {
      let count = 0
      const join = async () => {
        const body = { username: `joins${count++}`, password: 'a good password' }
        return (await other.call('POST', '/api/auth/register', { body })).status
      }
      expect(await join()).toBe(200)
      for (let round = 0; round < ROUNDS; round += 1) {
        await setTo({ registration: 'closed' })
        await expect.poll(join, AT_ONCE).toBe(403)
        await setTo({ registration: 'open' })
        await expect.poll(join, AT_ONCE).toBe(200)
      }
    })

    test('the rules of a group and its members', async () => {
      const ben = await register(one, 'ben')
      const { id } = (await as(other, 'GET', '/api/auth/profile', undefined, ben)).json.data
      const groups = '/api/admin/groups'
      const group = (await as(one, 'POST', groups, { name: 'Readers', tools: [] })).json.data.id
      const tools = async () =>
        (await as(other, 'GET', '/api/tools', undefined, ben)).json.data.tools.length
      const all = await tools()
      expect(all).toBeGreaterThan(1)
      for (let round = 0; round < ROUNDS; round += 1) {
        await as(one, 'PUT', `${groups}/${group}/members/${id}`)
        await expect.poll(tools, AT_ONCE).toBe(0)
        await as(one, 'PATCH', `${groups}/${group}`, { tools: ['calculator'] })
        await expect.poll(tools, AT_ONCE).toBe(1)
        await as(one, 'PATCH', `${groups}/${group}`, { tools: [] })
        await expect.poll(tools, AT_ONCE).toBe(0)
        await as(one, 'DELETE', `${groups}/${group}/members/${id}`)
        await expect.poll(tools, AT_ONCE).toBe(all)
      }
    })
  })

  async function signIn(): Promise<string> {
    const body = { username: 'ann', password: 'a good password' }
    return (await one.call('POST', '/api/auth/login', { body })).json.data.token
  }
  async function follow(server: TestServer, of: string): Promise<EventReader> {
    const page = await openEvents(`${server.url}/api/events`, {
      headers: { authorization: `Bearer ${of}` },
    })
    await page.next(({ event }) => event === 'ready')
    return page
  }
  const isSignedOut = async (server: TestServer, of: string): Promise<boolean> =>
    (await server.call('GET', '/api/conversations', { token: of })).status === 401
  const hasClosed = (page: EventReader): Promise<unknown> => page.all().catch(() => 'cut off')

  test('of two imports at once through two instances, one is accepted', async () => {
    const file = { name: 'conversations.json', content: '[]', format: 'chatgpt' }
    const both = await Promise.all([
      uploadImport(one, token, file),
      uploadImport(other, token, file),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  test('all instances print the same setup link, so it works through a proxy', () => {
    expect(setUp.paths[0]).toBe(setUp.paths[1])
    expect(setUp.opened).toBe(200)
  })

  test('a session that ends through one instance closes its open streams on the other', async () => {
    const ended = await signIn()
    const page = await follow(other, ended)
    expect((await one.call('POST', '/api/auth/logout', { token: ended })).status).toBe(200)
    await hasClosed(page)
    expect(await isSignedOut(other, ended)).toBe(true)
  })

  test('a session and a key that end while Redis is away are refused everywhere at once, and their open streams end when it is back', async () => {
    const [ended, kept] = [await signIn(), await signIn()]
    const created = await one.call('POST', '/api/auth/keys', { token: kept, body: { name: 'cli' } })
    const { id, key } = created.json.data
    const [page, program, untouched] = await Promise.all(
      [ended, key, kept].map((of) => follow(other, of)),
    )
    if (page === undefined || program === undefined || untouched === undefined)
      throw new Error('three were opened')
    link.cut()
    await one.call('POST', '/api/auth/logout', { token: ended })
    await one.call('DELETE', `/api/auth/keys/${id}`, { token: kept })
    expect(await isSignedOut(other, ended)).toBe(true)
    expect(await isSignedOut(other, key)).toBe(true)
    link.restore()
    await Promise.all([hasClosed(page), hasClosed(program)])
    const { json } = await other.call('POST', '/api/conversations', { token: kept, body: {} })
    await untouched.next(({ data }) => data.id === json.data.id)
    untouched.leave()
  })

  test('a large file uploaded through one instance is read, changed and restored through the other with the same bytes', async () => {
    const headers = { authorization: `Bearer ${token}` }
    const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
    const [bytes, changed] = [randomBytes(LARGE), randomBytes(LARGE)]
    const form = (content: Uint8Array<ArrayBuffer>): FormData => {
      const parts = new FormData()
      parts.set('name', 'Large')
      parts.append('files[]', new Blob([content]), 'large.bin')
      return parts
    }
    const sent = await fetch(`${one.url}/api/projects/upload`, {
      method: 'POST',
      headers,
      body: form(bytes),
    })
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await sent.json())
    const project = `/api/projects/${data.id}`
    const hashThrough = async (server: TestServer): Promise<string> => {
      const response = await fetch(`${server.url}${project}/files/large.bin?raw=1`, { headers })
      return hash(Buffer.from(await response.arrayBuffer()))
    }
    expect(await hashThrough(other)).toBe(hash(bytes))
    const replaced = await fetch(`${other.url}${project}/files`, {
      method: 'POST',
      headers,
      body: form(changed),
    })
    expect(replaced.status).toBe(200)
    expect(await hashThrough(one)).toBe(hash(changed))
    const { json } = await one.call('GET', `${project}/checkpoints`, { token })
    const [checkpoint] = json.data.items
    const undo = `${project}/checkpoints/${checkpoint.id}/restore`
    expect((await one.call('POST', undo, { token })).status).toBe(200)
    expect(await hashThrough(other)).toBe(hash(bytes))

    const text = bytes.subarray(0, 2 * MEGABYTE).toString('hex')
    const { json: attached } = await uploadFile(one.url, 'large.txt', text, { token })
    const part = await fetch(`${other.url}/api/files/${attached.data.id}`, {
      headers: { ...headers, range: 'bytes=3000000-' },
    })
    expect(part.status).toBe(206)
    expect(hash(Buffer.from(await part.arrayBuffer()))).toBe(hash(Buffer.from(text.slice(3e6))))
  })

  test('of two edits of the same version through two instances, one is stored completely and the other gets a conflict', async () => {
    const { json } = await one.call('POST', '/api/projects', { token, body: { name: 'Edited' } })
    const path = `/api/projects/${json.data.id}/files/large.txt`
    const write = (server: TestServer, content: string, version?: string) =>
      server.call('PUT', path, { token, body: { content, ...(version && { version }) } })
    let { version } = (await write(one, 'begun\n'.repeat(200_000))).json.data
    for (let round = 0; round < 2; round += 1) {
      const texts = ['one', 'other'].map((name) => `${name} in round ${round}\n`.repeat(60_000))
      const responses = await Promise.all(
        [one, other].map((server, at) => write(server, texts[at] ?? '', version)),
      )
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
      const winner = responses.findIndex(({ status }) => status === 200)
      version = responses[winner]?.json.data.version
      for (const server of [one, other]) {
        const read = await server.call('GET', path, { token })
        expect(read.json.data.content === texts[winner], 'the text of one, whole').toBe(true)
        expect(read.json.data.version).toBe(version)
      }
    }
  })
})
