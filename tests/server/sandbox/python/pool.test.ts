// The pool of warm interpreters and the compiled files, with fake interpreters that only speak the protocol.
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type CompiledFiles,
  createCompiledFiles,
} from '../../../../server/sandbox/python/compiled-files.ts'
import {
  createPythonPool,
  type PythonPool,
} from '../../../../server/sandbox/python/isolated-sandbox/pool.ts'
import { findInterpreterFiles } from '../../../../server/sandbox/python/launch.ts'
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

const createStore = (): CompiledFiles => createCompiledFiles({ folder, files, launcher, log })
function createPool(options: { size: number; idleMs?: number; compiled?: CompiledFiles }) {
  const pool = createPythonPool({
    launcher,
    idleMs: 60_000,
    compiled: createStore(),
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
    const store = createStore()
    let filled = (): void => {}
    const warm = new Promise<void>((resolve) => {
      filled = resolve
    })
    const compiled = { ...store, fill: async () => filled() }
    return { warm, compiled }
  }

  test('the second call finds a warm interpreter', async () => {
    const { warm, compiled } = storeWithSignal()
    const pool = createPool({ size: 1, compiled })
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

describe('the compiled files', () => {
  const stored = async (): Promise<string[]> => (await readdir(folder)).sort()
  const damaged = 'a damaged file of compiled Python is removed'
  const failed = 'Python did not start with its compiled files; starting without them'

  test('are built once, closed to other users, and every later start uses them', async () => {
    const compiled = createStore()
    await compiled.fill()
    const names = await stored()
    const name = /^python-[\da-f]{16}-([\da-f]{32}-)?[\da-f]{32}\.(code|image|library)$/
    expect(names).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(name)))
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
    const pool = createPool({ size: 0, compiled })
    const outcomes = [await call(pool), await call(pool)]
    expect(outcomes[0]?.result).toMatch(/^code /)
    expect(outcomes[1]?.result).toBe(outcomes[0]?.result)
    await compiled.fill()
    expect(await stored()).toEqual(names)
    expect(logged).toEqual([])
  })

  test('two servers that fill an empty folder at once use the same files', async () => {
    const stores = [createStore(), createStore()]
    await Promise.all(stores.map((store) => store.fill()))
    const results = await Promise.all(
      stores.map((compiled) => call(createPool({ size: 0, compiled }))),
    )
    expect(results[0]?.result).toMatch(/^code /)
    expect(results[1]?.result).toBe(results[0]?.result)
    expect((await stored()).filter((name) => name.endsWith('.part'))).toEqual([])
    expect(logged).toEqual([])
  })

  test('an image is only used with the library that it was made with', async () => {
    await createStore().fill()
    const [library = ''] = (await stored()).filter((name) => name.endsWith('.library'))
    // Another process has built its own library, and every process prefers that one now.
    const content = 'library of another process'
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 32)
    await writeFile(
      join(folder, library.replace(/[\da-f]{32}\.library$/, `${digest}.library`)),
      content,
    )
    await rm(join(folder, library))
    const compiled = createStore()
    const pool = createPool({ size: 0, compiled })
    expect(await call(pool)).toMatchObject({ status: 'completed' })
    await compiled.fill()
    expect((await stored()).filter((name) => name.endsWith('.image'))).toHaveLength(2)
    expect(await call(pool)).toMatchObject({ status: 'completed' })
    expect(logged).toEqual([])
  })

  test.for(['damaged', ''])(
    'a file with other content (%j) is removed before any start uses it, and built again',
    async (content) => {
      await createStore().fill()
      for (const name of await stored())
        if (name.endsWith('.code')) await writeFile(join(folder, name), content)
      const compiled = createStore()
      const pool = createPool({ size: 0, compiled })
      expect(await call(pool)).toMatchObject({ status: 'completed', result: null })
      expect(logged).toEqual([damaged])
      await compiled.fill()
      expect(await call(pool)).toMatchObject({ result: expect.stringMatching(/^code /) })
      expect(logged).toHaveLength(1)
    },
  )

  test('intact files that do not work are replaced by a start without them; after three times they stay unused', async () => {
    launcher = createScriptedLauncher({ rejectsCode: true })
    const compiled = createStore()
    const pool = createPool({ size: 0, compiled })
    for (let round = 0; round < 3; round += 1) {
      await compiled.fill()
      expect(await stored()).toHaveLength(3)
      expect(await call(pool)).toMatchObject({ status: 'completed', result: null })
    }
    expect(logged).toEqual([failed, failed, failed])
    await compiled.fill()
    expect(await stored()).toEqual([])
    expect(await call(pool)).toMatchObject({ status: 'completed', result: null })
    expect(logged).toHaveLength(3)
  })

  test('a folder that cannot be written stops no program, and is tried three times only', async () => {
    await rm(folder, { recursive: true })
    await writeFile(folder, 'not a folder')
    const compiled = createStore()
    for (let round = 0; round < 5; round += 1) await compiled.fill()
    expect(logged).toHaveLength(3)
    expect(await call(createPool({ size: 0, compiled }))).toMatchObject({ status: 'completed' })
    expect(logged).toHaveLength(3)
  })
})
