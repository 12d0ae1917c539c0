// The server never follows symbolic links that another program swaps in for files and folders during requests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnEachServer, type TestServer } from '../../../support/server/server.ts'

const ROUNDS = process.env.FAULTS === 'full' ? 300 : 6
const SECRET = 'canary-of-the-host'

const root = mkdtempSync(join(tmpdir(), 'swapped-files-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

/**
 * In a loop, each name is a file or folder of the project, then a link that leads out of it, then absent. They are
 * swapped in by renames, so that the swapper itself never writes through a link that the server has just restored.
 */
const SWAPPER = `
const fs = require('node:fs')
const path = require('node:path')
const { OUTSIDE, PARK } = process.env
const attempt = (work) => { try { work() } catch {} }
const away = (name) => attempt(() => fs.rmSync(name, { recursive: true, force: true }))
let turn = 0
const swap = () => {
  const own = path.join(PARK, String(++turn))
  fs.mkdirSync(own + 'd')
  fs.writeFileSync(own, 'mine')
  fs.writeFileSync(path.join(own + 'd', 'secret.txt'), 'mine')
  for (const [name, target, made] of [['file', path.join(OUTSIDE, 'secret.txt'), own], ['dir', OUTSIDE, own + 'd']]) {
    away(name)
    attempt(() => fs.symlinkSync(target, name))
    away(name)
    attempt(() => fs.renameSync(made, name))
    away(made)
  }
  setImmediate(swap)
}
swap()
console.log('ready')`

describeOnEachServer('files that are swapped for links', (start) => {
  let server: TestServer
  let workspaces: string
  beforeAll(async () => {
    workspaces = join(root, String(Math.random()))
    server = await start({ workspace_root: workspaces })
  })

  test('cause no server error, and nothing outside the project is read or changed', async () => {
    const outside = join(root, `outside-${Math.random()}`)
    await mkdir(outside)
    const parked = join(root, `parked-${Math.random()}`)
    await mkdir(parked)
    await writeFile(join(outside, 'secret.txt'), SECRET)
    const created = await server.call('POST', '/api/projects', { body: { name: 'Swapped' } })
    const base = `/api/projects/${created.json.data.id}`
    await server.call('PUT', `${base}/files/keep.txt`, { body: { content: 'kept' } })
    const places = await readdir(workspaces, { recursive: true, withFileTypes: true })
    const kept = places.find(({ name }) => name === 'keep.txt')
    const swapper = spawn(process.execPath, ['-e', SWAPPER], {
      cwd: kept?.parentPath ?? '',
      env: { ...process.env, OUTSIDE: outside, PARK: parked },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(swapper.stdout, 'data')

    const wrong: string[] = []
    const refused = new Set<number>()
    const ask = async (method: string, path: string, body?: object): Promise<void> => {
      const response = await fetch(`${server.url}${base}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await response.text()
      if (response.status >= 400) refused.add(response.status)
      // A link's target path is its content and may be returned; only errors must not name a path of the host.
      const leaks = text.includes(SECRET) || (response.status >= 400 && text.includes(root))
      // 503: everything changed while the change was inspected, so it could not be stored; the next change includes it.
      if ((response.status >= 500 && response.status !== 503) || leaks)
        wrong.push(`${method} ${path} → ${response.status} ${text.slice(0, 200)}`)
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
    // Requests did hit swapped files; otherwise nothing would have been refused.
    expect(refused.size).toBeGreaterThan(0)
    expect(await readdir(outside)).toEqual(['secret.txt'])
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET)
    const faults = server
      .logged()
      .split('\n')
      .filter((line) => line.includes('"level":50'))
    expect(faults.filter((line) => !line.includes('restore_not_recorded'))).toEqual([])
    // The server still works.
    await server.call('PUT', `${base}/files/after.txt`, { body: { content: 'goes on' } })
    const after = await server.call('GET', `${base}/files/after.txt`)
    expect(after.json.data.content).toBe('goes on')
  })
})
