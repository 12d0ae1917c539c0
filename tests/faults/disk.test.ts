// A full disk: what cannot be stored is refused with 507, stored data can be read, and free space is enough to recover.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { integrityOf } from '../support/faults/crash-rounds.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { openEvents } from '../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { type SmallDisk, smallDisk } from '../support/store/small-disk.ts'

const isFull = process.env.FAULTS === 'full'
const disk: SmallDisk | null = smallDisk(24 * 1024)
const absent = { folder: '', fill() {}, free() {}, unmount() {} }
const title = `a full disk${disk === null ? ' (skipped: mounting a small file system is not allowed here)' : ''}`

describe.skipIf(disk === null)(title, () => {
  const { folder, fill, free, unmount } = disk ?? absent
  let upstream: Upstream
  let place: ServerPlace
  let server: ServerProcess

  beforeAll(async () => {
    upstream = await startUpstream()
    place = await serverPlace(folder, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      log_level: 'warn',
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    await upstream.close()
    unmount()
  })

  const call = (method: string, path: string, body?: unknown) =>
    callServer(server.url, method, path, body)
  const make = async (path: string, body: object) => (await call('POST', path, body)).data.id

  /** How often a run has tried again to store something. */
  async function retries(): Promise<number> {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^nanoclaw_store_retries_total (\d+)/m.exec(metrics)?.[1])
  }

  /** All files below the workspaces with their contents, read from disk. */
  function filesOnDisk(): Record<string, string> {
    const root = join(folder, 'workspaces')
    const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    return Object.fromEntries(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => {
          const path = join(entry.parentPath, entry.name)
          return [path, readFileSync(path, 'utf8')]
        }),
    )
  }

  test('refuses writes, still serves stored data, and needs no restart to recover', async () => {
    const conversation = await make('/api/conversations', { title: 'before' })
    const project = await make('/api/projects', { name: 'Small' })
    const file = `/api/projects/${project}/files/kept.txt`
    const old = 'old '.repeat(2_000)
    expect((await call('PUT', file, { content: old })).status).toBe(200)
    fill()

    // Some writes still fit into the space that the database has reserved; they count as stored.
    const acknowledged: string[] = []
    const refusals = new Map<string, { status: number; message: string }>()
    for (let n = 0; n < 200 && !refusals.has('conversation'); n += 1) {
      const title = `during ${n} ${'x'.repeat(200)}`
      const response = await call('POST', '/api/conversations', { title })
      if (response.status === 200) acknowledged.push(response.data.id)
      else refusals.set('conversation', response)
    }
    const before = filesOnDisk()
    refusals.set('file', await call('PUT', file, { content: 'new '.repeat(50_000) }))
    refusals.set('new file', await call('PUT', `${file}.2`, { content: 'new '.repeat(50_000) }))
    const upload = new FormData()
    upload.set('name', 'Uploaded')
    upload.append('files[]', new Blob(['x'.repeat(100_000)]), 'a/b.txt')
    const uploaded = await fetch(`${server.url}/api/projects/upload`, {
      method: 'POST',
      body: upload,
    })
    // Not validated: the assertions check the shape.
    const { message } = (await uploaded.json()) as { message: string }
    refusals.set('upload', { status: uploaded.status, message })
    refusals.set('memory', await call('PUT', '/api/memory', { content: 'y'.repeat(100_000) }))
    refusals.set(
      'message',
      await call('POST', `/api/conversations/${conversation}/messages`, {
        text: 'z'.repeat(100_000),
      }),
    )
    for (const [what, { status, message }] of refusals) {
      expect(status, `${what}: ${message}`).toBe(507)
      expect(message, what).toMatch(/disk is full/i)
    }
    expect(filesOnDisk(), 'nothing new, nothing changed, no half file').toEqual(before)

    const listed = await call('GET', '/api/conversations?limit=100')
    expect(listed.status).toBe(200)
    expect((await call('GET', file)).data.content).toBe(old)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)

    free()
    acknowledged.push(await make('/api/conversations', { title: 'after' }))
    expect((await call('PUT', file, { content: 'new' })).status).toBe(200)
    for (const id of acknowledged)
      expect((await call('GET', `/api/conversations/${id}`)).status).toBe(200)
    expect(integrityOf(join(folder, 'data/nanoclaw.db'))).toBe('ok')
    await call('DELETE', `/api/projects/${project}`)
  })

  test('lets the server start: it says so, lets people delete, stores nothing else, and works again once there is space', async () => {
    const project = await make('/api/projects', { name: 'Large' })
    const file = `/api/projects/${project}/files/large.txt`
    await expect.poll(() => readdirSync(join(folder, 'data'))).toContain('.reserve')
    await server.kill('SIGTERM')
    fill()
    server = await place.start()
    expect(server.logged()).toContain('The disk of data_dir is full')
    expect((await call('GET', '/api/conversations')).status).toBe(200)
    const refused = await call('POST', '/api/conversations', { title: 'more' })
    expect(refused).toMatchObject({ status: 507, message: expect.stringMatching(/disk is full/i) })
    expect((await call('PUT', file, { content: 'more' })).status).toBe(507)
    expect((await call('DELETE', `/api/projects/${project}`)).status).toBe(200)
    free()
    await expect
      .poll(async () => (await call('POST', '/api/conversations', { title: 'after' })).status)
      .toBe(200)
    expect(readdirSync(join(folder, 'data'))).toContain('.reserve')
  })

  test('that becomes full while the server runs does not prevent deletions', async () => {
    const project = await make('/api/projects', { name: 'Large again' })
    const large = await make('/api/conversations', { title: 'large' })
    await expect.poll(() => readdirSync(join(folder, 'data'))).toContain('.reserve')
    fill()
    // What still fits into space that the database has is stored.
    await expect
      .poll(
        async () => (await call('POST', '/api/conversations', { title: 'x'.repeat(200) })).status,
      )
      .toBe(507)
    expect((await call('DELETE', `/api/conversations/${large}`)).status).toBe(200)
    expect((await call('DELETE', `/api/projects/${project}`)).status).toBe(200)
    expect(server.logged()).toContain('The disk of data_dir is full')
    // The space that was kept back is for deletions only.
    expect((await call('POST', '/api/conversations', { title: 'more' })).status).toBe(507)
    free()
    await expect
      .poll(async () => (await call('POST', '/api/conversations', { title: 'after' })).status)
      .toBe(200)
    await expect.poll(() => readdirSync(join(folder, 'data'))).toContain('.reserve')
  })

  test('that fills up during an answer delays the run, and the whole answer is stored', async () => {
    const conversation = await make('/api/conversations', {})
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.thinking('Thought of it.', 'Said '.repeat(400), { until: gate }))
    const stream = await openEvents(`${server.url}/api/conversations/${conversation}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    await stream.next(({ event }) => event === 'run')
    fill()
    // The database still has space that it reserved earlier; this uses up the rest.
    for (let isRefused = false; !isRefused; ) {
      const { status } = await call('POST', '/api/conversations', { title: 'w'.repeat(200) })
      isRefused = status === 507
    }
    release()
    await stream.next(({ event }) => event === 'step_delta')
    const other = await call('GET', '/api/conversations?limit=2')
    const otherPath = `/api/conversations/${other.data.items[1].id}/messages`
    expect((await call('POST', otherPath, { text: 'Me too' })).status).toBe(507)
    // In the long form after several minutes: the run keeps trying, and its listeners stay connected.
    await expect.poll(retries, { timeout: 600_000 }).toBeGreaterThan(isFull ? 40 : 1)
    free()
    const path = `/api/conversations/${conversation}/messages`
    await expect
      .poll(async () => (await call('GET', path)).data.items.at(-1).status)
      .toBe('completed')
    expect((await stream.all()).at(-1)?.event).toBe('done')
    const { data } = await call('GET', path)
    expect(data.items.at(-1).text).toBe('Said '.repeat(400))
    expect(data.items).toHaveLength(2)
    expect(integrityOf(join(folder, 'data/nanoclaw.db'))).toBe('ok')
  })
})
