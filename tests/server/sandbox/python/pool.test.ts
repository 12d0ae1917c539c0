// The pool of warm interpreters and the store of images, with fake interpreters that only speak the protocol.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findInterpreterFiles } from '../../../../server/sandbox/python/launch.ts'
import { createPythonPool, type PythonPool } from '../../../../server/sandbox/python/pool.ts'
import {
  createPythonSnapshots,
  type PythonSnapshots,
} from '../../../../server/sandbox/python/snapshots.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  createScriptedLauncher,
  runScripted,
} from '../../../support/sandbox/scripted-interpreter.ts'
import { descendants, processes } from '../../../support/server/process-tree.ts'

const files = await findInterpreterFiles([])
let folder: string
let logged: string[]
/** Child processes that existed before the test. */
let others: Set<number>
let launcher: ReturnType<typeof createScriptedLauncher>
const pools: PythonPool[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nanoclaw-pool-'))
  logged = []
  others = new Set(await descendants(process.pid))
  launcher = createScriptedLauncher()
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
  await rm(folder, { recursive: true, force: true })
})

const log = (message: string): void => {
  logged.push(message)
}
/** Process ids of the live interpreters. */
async function interpreters(): Promise<number[]> {
  const started = (await descendants(process.pid)).filter((pid) => !others.has(pid))
  const alive = await processes()
  // The first list includes the `ps` that produced it.
  return started.filter((pid) => alive.has(pid))
}

const createStore = (images: number): PythonSnapshots =>
  createPythonSnapshots({ folder, images, files, launcher, log })
function createPool(options: { size: number; idleMs?: number; snapshots?: PythonSnapshots }) {
  const pool = createPythonPool({
    launcher,
    idleMs: 60_000,
    snapshots: createStore(0),
    log,
    ...options,
  })
  pools.push(pool)
  return pool
}

/** Runs one program: its result, and whether it had to wait for an interpreter to start. */
async function call(pool: PythonPool, signal = new AbortController().signal) {
  let waited = false
  const interpreter = await pool.acquire(signal, () => {
    waited = true
  })
  const { status, result } = await runScripted(interpreter)
  await interpreter.ended
  return { status, result, waited }
}

describe('the pool', () => {
  /** A store that signals when all interpreters of the pool are warm: its `fill` is called only then. */
  function storeWithSignal() {
    const store = createStore(0)
    let filled = (): void => {}
    const warm = new Promise<void>((resolve) => {
      filled = resolve
    })
    const snapshots = { ...store, fill: async () => filled() }
    return { warm, snapshots }
  }

  test('the second call finds a warm interpreter', async () => {
    const { warm, snapshots } = storeWithSignal()
    const pool = createPool({ size: 1, snapshots })
    expect(await call(pool)).toMatchObject({ status: 'completed', waited: true })
    await warm
    expect(await call(pool)).toMatchObject({ status: 'completed', waited: false })
  })

  test('an unused warm interpreter ends after a while, and the next call starts another', async () => {
    const pool = createPool({ size: 2, idleMs: 1 })
    await call(pool)
    await eventually(async () => expect(await interpreters()).toEqual([]))
    expect(await call(pool)).toMatchObject({ status: 'completed', waited: true })
  })

  test('a call that is aborted while its interpreter starts ends at once, and the next call takes over the start', async () => {
    const pool = createPool({ size: 1 })
    const first = await pool.acquire(new AbortController().signal, () => {})
    const stop = new AbortController()
    const aborted = pool.acquire(stop.signal, () => {})
    stop.abort(new Error('nobody waits any more'))
    await expect(aborted).rejects.toThrow('nobody waits any more')
    expect(await call(pool)).toMatchObject({ status: 'completed' })
    // The first call's interpreter, the one that was taken over, and its replacement.
    expect(launcher.served).toBe(3)
    first.kill()
    await first.ended
  })

  test('if there are more concurrent calls than warm interpreters, each still gets a separate interpreter', async () => {
    const pool = createPool({ size: 2 })
    const all = await Promise.all(
      Array.from({ length: 6 }, () => pool.acquire(new AbortController().signal, () => {})),
    )
    expect(new Set(all).size).toBe(6)
    for (const interpreter of all)
      expect(await runScripted(interpreter)).toMatchObject({ status: 'completed' })
  })

  test('closing ends warm and starting interpreters, and no call gets another', async () => {
    const pool = createPool({ size: 3 })
    await call(pool)
    await pool.close()
    expect(await interpreters()).toEqual([])
    await expect(call(pool)).rejects.toThrow('shutting down')
  })
})

describe('the store', () => {
  const stored = async (kind: string): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name.endsWith(kind))

  test('an image is used for one start only, however many calls and instances compete for it', async () => {
    const stores = [createStore(3), createStore(3)]
    await stores[0]?.fill()
    expect(await stored('.image')).toHaveLength(3)
    const both = stores.map((snapshots) => createPool({ size: 1, snapshots }))
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const pool = both[index % 2]
        return pool && (await call(pool))
      }),
    )
    expect(outcomes.every((outcome) => outcome?.status === 'completed')).toBe(true)
    // The others started from the library alone.
    const images = outcomes.flatMap((outcome) => outcome?.result ?? [])
    expect(images.length).toBeGreaterThanOrEqual(1)
    expect(new Set(images).size).toBe(images.length)
    expect(logged).toEqual([])
  })

  test('two instances that fill an empty folder at once agree on one library', async () => {
    const stores = [createStore(2), createStore(2)]
    await Promise.all(stores.map((store) => store.fill()))
    const taken = await Promise.all(
      Array.from({ length: 4 }, (_, index) => stores[index % 2]?.take()),
    )
    const libraries = await Promise.all(
      taken.map(async (start) => (await start?.library?.stat())?.ino),
    )
    expect(new Set(libraries).size).toBe(1)
    await Promise.all(taken.map((start) => start?.close()))
  })

  test('broken images are removed, the call completes without them, and they are created again', async () => {
    const snapshots = createStore(2)
    await snapshots.fill()
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'damaged')
    const pool = createPool({ size: 0, snapshots })
    expect(await call(pool)).toMatchObject({ status: 'completed', result: null })
    expect(logged).toEqual(['Python did not start from its memory image; starting without it'])
    await snapshots.fill()
    expect(await call(pool)).toMatchObject({ result: expect.stringMatching(/^image /) })
    expect(logged).toHaveLength(1)
  })
})
