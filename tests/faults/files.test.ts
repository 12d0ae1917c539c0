// A kill while a file is written: afterwards the file is either the old or the new one, and no temporary files remain.

import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom, SEED } from '../support/random.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

const KILLS = process.env.FAULTS === 'full' ? 100 : 2
const random = randomFrom(SEED)
const MEGABYTES = 5

let folder: string
let place: ServerPlace
let server: ServerProcess

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nanoclaw-files-'))
  place = await serverPlace(folder, { log_level: 'warn' })
  server = await place.start()
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const contentOf = (round: number): string =>
  `round ${round}\n`.repeat((MEGABYTES * 1024 * 1024) / 10)

const send = (method: string, path: string, body: object): Promise<Response> =>
  fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Names of all files that are no marker of the folder, no lock of a process, the project's file or an entry of the content store under its final name. */
function leftovers(): string[] {
  return readdirSync(join(folder, 'workspaces'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter(
      (name) =>
        !/\/staging\/[^/]+\.lock$/.test(name) &&
        !/\/(kept\.txt|\.nanoclaw-(store|moves|running(\.lock(-journal)?)?))$/.test(name) &&
        !/\/contents\/[0-9a-f]{2}\/[0-9a-f]{62}$/.test(name),
    )
}

test(`a file of ${MEGABYTES} MB is intact after each of ${KILLS} kills while it is overwritten (SEED=${SEED})`, async () => {
  const created = await send('POST', '/api/projects', { name: 'Files' })
  const { data } = (await created.json()) as { data: { id: string } }
  const file = `/api/projects/${data.id}/files/kept.txt`
  expect((await send('PUT', file, { content: contentOf(0) })).status).toBe(200)
  let before = hashOf(contentOf(0))
  /** Duration of an undisturbed write, in milliseconds; each kill comes at a random moment within it. */
  let undisturbed = 0
  for (let round = 1; round <= KILLS; round += 1) {
    if (round === 1) {
      const began = performance.now()
      await send('PUT', file, { content: contentOf(0) })
      undisturbed = performance.now() - began
    }
    const content = contentOf(round)
    const written = send('PUT', file, { content }).then(
      ({ status }) => status,
      () => 0,
    )
    await new Promise((resolve) => setTimeout(resolve, random.share() * undisturbed))
    await server.kill('SIGKILL')
    const status = await written
    server = await place.start()
    const response = await fetch(`${server.url}${file}?raw=1`)
    const after = hashOf(await response.text())
    expect([before, hashOf(content)], 'the old file or the new one').toContain(after)
    if (status === 200) expect(after, 'what was acknowledged is there').toBe(hashOf(content))
    before = after
    // The next change recovers the one that was interrupted.
    expect((await send('PUT', file, { content: contentOf(-round) })).status).toBe(200)
    before = hashOf(contentOf(-round))
    expect(leftovers(), 'no half file is left').toEqual([])
  }
})
