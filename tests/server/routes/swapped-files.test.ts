// Another program swaps files and folders for symbolic links while the server works on them: it refuses, and never follows.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnEachServer, type TestServer } from '../../support/server.ts'

const ROUNDS = process.env.FAULTS === 'full' ? 300 : 6
const SECRET = 'canary-of-the-host'

const root = mkdtempSync(join(tmpdir(), 'swapped-files-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

/** Each name is a file or folder of the project, then a link out of it, then nothing, over and over. */
const SWAPPER = `
echo ready
while :; do
  rm -rf file; ln -s "$OUTSIDE/secret.txt" file; rm -rf file; echo mine > file
  rm -rf dir; ln -s "$OUTSIDE" dir; rm -rf dir; mkdir dir; echo mine > dir/secret.txt
done`

describeOnEachServer('files that are swapped for links', (start) => {
  let server: TestServer
  let workspaces: string
  beforeAll(async () => {
    workspaces = join(root, String(Math.random()))
    server = await start({ workspace_root: workspaces })
  })

  test('are never a fault of the server, and nothing outside the project is read or touched', async () => {
    const outside = join(root, `outside-${Math.random()}`)
    await mkdir(outside)
    await writeFile(join(outside, 'secret.txt'), SECRET)
    const made = await server.call('POST', '/api/projects', { body: { name: 'Swapped' } })
    const base = `/api/projects/${made.json.data.id}`
    await server.call('PUT', `${base}/files/keep.txt`, { body: { content: 'kept' } })
    const places = await readdir(workspaces, { recursive: true, withFileTypes: true })
    const kept = places.find(({ name }) => name === 'keep.txt')
    const swapper = spawn('sh', ['-c', SWAPPER], {
      cwd: kept?.parentPath ?? '',
      env: { ...process.env, OUTSIDE: outside },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(swapper.stdout, 'data')

    const wrong: string[] = []
    const refused = new Set<number>()
    const ask = async (method: string, path: string, body?: object): Promise<void> => {
      const answer = await fetch(`${server.url}${base}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await answer.text()
      if (answer.status >= 400) refused.add(answer.status)
      // Where a link points is what it holds; only errors have no business to name a place of the host.
      const leaks = text.includes(SECRET) || (answer.status >= 400 && text.includes(root))
      if (answer.status >= 500 || leaks)
        wrong.push(`${method} ${path} → ${answer.status} ${text.slice(0, 200)}`)
    }
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([
        ask('PUT', '/files/file', { content: `round ${round}` }),
        ask('GET', '/files/file?raw=1'),
        ask('PUT', '/files/dir/secret.txt', { content: `round ${round}` }),
        ask('PUT', `/files/dir/made/${round}.txt`, { content: 'new' }),
        ask('GET', '/files/dir/secret.txt'),
        ask('GET', '/files?path=dir'),
        ask('POST', '/search', { query: 'canary' }),
      ])
      await ask('PATCH', '/files/dir', { new_path: `moved-${round}` })
      await ask('PATCH', '/files/file', { new_path: `file-${round}` })
      await ask('POST', '/directories', { path: 'dir/folder' })
      await ask('DELETE', `/files/${round % 2 === 0 ? 'dir' : 'file'}`)
      const { json } = await server.call('GET', `${base}/checkpoints?limit=5`)
      const oldest = json.data.items.at(-1).id
      await ask('GET', `/checkpoints/${oldest}/diff?against=now`)
      await ask('POST', `/checkpoints/${oldest}/restore`)
    }
    swapper.kill('SIGKILL')
    await once(swapper, 'close')
    expect(wrong).toEqual([])
    // The swapping was met: without it everything would have been served.
    expect([...refused]).toContain(403)
    expect(await readdir(outside)).toEqual(['secret.txt'])
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET)
    expect(server.logged()).not.toContain('"level":50')
    // And the server goes on.
    expect((await server.call('GET', `${base}/files/keep.txt`)).json.data.content).toBe('kept')
  })
})
