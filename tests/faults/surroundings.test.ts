// Scarce resources: few file descriptors, a read-only disk. The server reports it and recovers, or does not start.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverPlace } from '../support/server/server-process.ts'
import { smallDisk } from '../support/store/small-disk.ts'

const canLimit = spawnSync('prlimit', ['--nofile=64', 'true']).status === 0
const OPEN_FILES = 128

/** Opens a connection, sends one request and keeps the connection open; null if the server could not accept it. */
function holdConnection(url: URL): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), url.hostname)
    socket.once('data', () => resolve(socket))
    socket.once('error', () => resolve(null))
    socket.once('close', () => resolve(null))
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })
}

test.skipIf(!canLimit)(
  'with too few file descriptors requests return 503, and later ones succeed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-files-'))
    const place = await serverPlace(folder, { log_level: 'warn' })
    const server = await place.start({ wrapper: ['prlimit', `--nofile=${OPEN_FILES}`] })
    const json = { 'content-type': 'application/json' }
    const created = await fetch(`${server.url}/api/projects`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ name: 'Files' }),
    })
    const { data } = (await created.json()) as { data: { id: string } }
    const file = `${server.url}/api/projects/${data.id}/files/a.txt`
    const put = (): Promise<Response> =>
      fetch(file, { method: 'PUT', headers: json, body: '{"content":"text"}' })
    expect((await put()).status).toBe(200)

    const held: Socket[] = []
    for (let refused = 0; refused < 3 && held.length < OPEN_FILES; ) {
      const socket = await holdConnection(new URL(server.url))
      if (socket === null) refused += 1
      else held.push(socket)
    }
    expect(held.length).toBeGreaterThan(20)
    expect(held.length).toBeLessThan(OPEN_FILES)
    // On connections that are already open: now the server has no descriptor left to open the file with.
    const path = new URL(file).pathname
    const answers: string[] = []
    for (const socket of held.slice(0, 10))
      answers.push(
        await new Promise<string>((resolve) => {
          socket.once('data', (bytes) => resolve(bytes.toString().slice(9, 12)))
          socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        }),
      )
    expect(answers.filter((status) => status !== '200' && status !== '503')).toEqual([])
    expect(answers).toContain('503')

    for (const socket of held) socket.destroy()
    await expect.poll(async () => (await put().catch(() => null))?.status).toBe(200)
    expect((await fetch(file)).status).toBe(200)
    expect(server.logged()).not.toContain('uncaught exception')
    await server.kill('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    rmSync(folder, { recursive: true, force: true })
  },
)

const hashOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

test('on a read-only disk the start fails, names the file, and leaves it unchanged', async (context) => {
  const disk = smallDisk(16 * 1024)
  if (disk === null) return context.skip('mounting a small file system is not allowed here')
  const place = await serverPlace(disk.folder, { log_level: 'warn' })
  const server = await place.start()
  await server.kill('SIGTERM')
  const file = join(disk.folder, 'data/nanoclaw.db')
  const before = hashOf(file)
  disk.makeReadOnly()
  await expect(place.start()).rejects.toThrow(file)
  expect(hashOf(file)).toBe(before)
  disk.unmount()
})
