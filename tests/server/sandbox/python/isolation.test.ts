// Which isolation is chosen and when nothing runs; packages from the operator's folder; images and the pool.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { chooseLauncher } from '../../../../server/sandbox/python/isolation.ts'
import { findInterpreterFiles } from '../../../../server/sandbox/python/launch.ts'
import { descendants, processes } from '../../../support/process-tree.ts'
import { openPython, type TestSandbox } from '../../../support/python.ts'

let folder: string
const open: TestSandbox[] = []
const opened = async (options: Parameters<typeof openPython>[0]): Promise<TestSandbox> => {
  const sandbox = await openPython(options)
  open.push(sandbox)
  return sandbox
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nanoclaw-isolation-'))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('without bubblewrap', async () => {
  const files = await findInterpreterFiles([])
  const bubblewrap = { available: false as const, reason: 'bubblewrap is not installed' }

  test('a single user gets WebAssembly isolation, and the state gives the reason', async () => {
    const { state, launcher } = await chooseLauncher({
      files,
      bubblewrap,
      isolation: 'auto',
      multiUser: false,
    })
    expect(launcher?.isolation).toBe('wasm')
    expect(state).toEqual({
      engine: 'wasm',
      isolation: 'wasm',
      available: true,
      reason: 'WebAssembly isolation only: bubblewrap is not installed',
    })
  })

  test('several users get no Python unless the operator accepts WebAssembly isolation', async () => {
    const off = await chooseLauncher({ files, bubblewrap, isolation: 'auto', multiUser: true })
    expect(off.launcher).toBeNull()
    expect(off.state).toMatchObject({ isolation: 'none', available: false })
    expect(off.state.reason).toContain('code_execution.isolation: wasm')
    const on = await chooseLauncher({ files, bubblewrap, isolation: 'wasm', multiUser: true })
    expect(on.state).toMatchObject({ isolation: 'wasm', available: true, reason: null })
  })

  test('nothing runs when kernel isolation is required and missing', async () => {
    const off = await chooseLauncher({ files, bubblewrap, isolation: 'kernel', multiUser: false })
    expect(off.launcher).toBeNull()
    expect(off.state.reason).toContain('bubblewrap is not installed')
  })
})

test('a bubblewrap that isolates nothing is rejected', async () => {
  const sham = join(folder, 'bwrap')
  await writeFile(sham, '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n', {
    mode: 0o755,
  })
  const { state, launcher } = await chooseLauncher({
    files: await findInterpreterFiles([]),
    bubblewrap: { available: true, path: sham, version: 'sham' },
    isolation: 'kernel',
    multiUser: false,
  })
  expect(launcher).toBeNull()
  expect(state.reason).toMatch(/unexpected inside/)
})

test('bubblewrap provides kernel isolation for several users', async ({ skip }) => {
  const bubblewrap = await detectBubblewrap()
  if (!bubblewrap.available) skip(bubblewrap.reason)
  const python = await opened({ isolation: 'kernel', multiUser: true, poolSize: 0 })
  expect(python.state).toEqual({
    engine: 'wasm',
    isolation: 'kernel',
    available: true,
    reason: null,
  })
  expect(await python.program('1 + 1')).toMatchObject({ status: 'completed', result: 2 })
})

test.for(['kernel', 'wasm'] as const)(
  'a killed server leaves no interpreter behind, under %s isolation',
  { timeout: 120_000 },
  async (isolation, { skip }) => {
    const bubblewrap = await detectBubblewrap()
    if (isolation === 'kernel' && !bubblewrap.available) skip(bubblewrap.reason)
    if (process.platform !== 'linux') skip('told by the kernel of Linux only')
    const program = join(import.meta.dirname, '../../../support/endless-python.ts')
    const server = spawn(process.execPath, ['--import', 'tsx', program, isolation], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(server.stdout, 'data')
    const below = await descendants(server.pid ?? 0)
    expect(below.length).toBeGreaterThan(0)
    server.kill('SIGKILL')
    await vi.waitFor(
      async () => {
        const alive = await processes()
        expect(below.filter((pid) => alive.has(pid))).toEqual([])
      },
      { timeout: 10_000, interval: 100 },
    )
  },
)

describe('packages of the operator', () => {
  const wheels = () => join(folder, 'wheels')
  beforeAll(async () => {
    await mkdir(wheels(), { recursive: true })
    const python = await openPython({ poolSize: 0 })
    // Made by Python itself: two tiny packages, of which one needs the other.
    const made = await python.program(
      `import zipfile
def wheel(name, module, text, requires=''):
    with zipfile.ZipFile(f'/output/{name}-1.0-py3-none-any.whl', 'w') as archive:
        archive.writestr(f'{module}/__init__.py', text)
        archive.writestr(f'{name}-1.0.dist-info/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n{requires}')
        archive.writestr(f'{name}-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        archive.writestr(f'{name}-1.0.dist-info/RECORD', '')
wheel('tiny_base', 'tinybase', 'def double(x):\\n    return 2 * x\\n')
wheel('tiny_top', 'tinytop', 'import os\\nfrom tinybase import double\\n', 'Requires-Dist: tiny.base (>=1.0)\\nRequires-Dist: numpy ; extra == "fast"\\n')`,
      { strictness: 'lenient' },
    )
    await python.close()
    expect(made.error).toBeNull()
    for (const { path, content } of made.files) await writeFile(join(wheels(), path), content)
  })

  test.for(['kernel', 'wasm'] as const)(
    'a program imports a package and its dependency offline, under %s isolation',
    async (isolation, { skip }) => {
      const python = await opened({ isolation, packagesFolder: wheels(), poolSize: 0 })
      const bubblewrap = await detectBubblewrap()
      if (isolation === 'kernel' && !bubblewrap.available) skip(bubblewrap.reason)
      expect(python.state.reason).toBeNull()
      expect(python.packages).toEqual(['tiny-base', 'tiny-top'])
      expect(await python.program('import tinytop\ntinytop.double(21)')).toMatchObject({
        status: 'completed',
        result: 42,
      })
      const strict = await python.program('import tinytop', { strictness: 'strict' })
      expect(strict).toMatchObject({ status: 'refused' })
    },
  )

  test('a file that is not a valid wheel does not stop other programs', async () => {
    const broken = join(folder, 'broken')
    await mkdir(broken)
    await writeFile(join(broken, 'bad-1.0-py3-none-any.whl'), 'no archive')
    // Made for another Pyodide, and for no Pyodide at all.
    await writeFile(join(broken, 'old-1.0-cp312-cp312-pyodide_2024_0_wasm32.whl'), '')
    await writeFile(join(broken, 'native-1.0-cp314-cp314-manylinux_2_28_x86_64.whl'), '')
    const log: unknown[] = []
    const python = await opened({
      packagesFolder: broken,
      poolSize: 0,
      log: (_, details) => log.push(details),
    })
    expect(python.packages).toEqual(['bad'])
    expect(log).toMatchObject([
      { wheel: expect.stringContaining('native-1.0') },
      { wheel: expect.stringContaining('old-1.0'), suitable: expect.any(Array) },
    ])
    expect(await python.program('1 + 1')).toMatchObject({ status: 'completed', result: 2 })
  })
})

describe('memory images and warm interpreters', () => {
  // One folder for them all: to fill it takes the longest.
  const images = () => join(folder, 'images')
  const stored = async (snapshotFolder: string): Promise<string[]> =>
    (await readdir(snapshotFolder).catch(() => [])).filter((name) =>
      /\.(library|image)$/.test(name),
    )
  /** Fewer than a server keeps: each image takes a second of work. */
  const storedImages = 2
  /** Waits for the library and all images. */
  const filled = (snapshotFolder: string): Promise<string[]> =>
    vi.waitFor(
      async () => {
        const names = await stored(snapshotFolder)
        expect(names.length).toBeGreaterThan(storedImages)
        return names
      },
      { timeout: 120_000, interval: 500 },
    )

  test('images are created at first use, readable by the owner only, and replaced when broken', async () => {
    const snapshotFolder = images()
    const python = await opened({ snapshotFolder, storedImages })
    expect(await stored(snapshotFolder)).toEqual([])
    expect(await python.program('1')).toMatchObject({ result: 1 })
    await filled(snapshotFolder)
    await python.close()
    for (const name of await readdir(snapshotFolder)) {
      expect((await stat(join(snapshotFolder, name))).mode & 0o077).toBe(0)
      await writeFile(join(snapshotFolder, name), 'not an image')
    }
    const log: string[] = []
    const again = await opened({
      snapshotFolder,
      storedImages,
      poolSize: 0,
      log: (message) => log.push(message),
    })
    expect(await again.program('2')).toMatchObject({ status: 'completed', result: 2 })
    expect(log).toContain('Python did not start from its memory image; starting without it')
    // What did not work is made anew.
    await filled(snapshotFolder)
    expect(await again.program('3')).toMatchObject({ status: 'completed', result: 3 })
    expect(log).toHaveLength(1)
  }, 300_000)

  test('an image serves one start only, even when calls come faster than images are created', async () => {
    const snapshotFolder = images()
    const python = await opened({ snapshotFolder, storedImages })
    await python.program('1')
    await filled(snapshotFolder)
    const program = 'import random\n[hash("one text"), random.random()]'
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => python.program(program)))
    outcomes.push(await python.program(program))
    const seeds = outcomes.flatMap(({ result }) => result)
    expect(seeds).not.toContain(null)
    expect(new Set(seeds).size).toBe(10)
  }, 240_000)

  test('two instances with one folder never use the same image', async () => {
    const snapshotFolder = images()
    const both = [
      await opened({ snapshotFolder, storedImages, poolSize: 0 }),
      await opened({ snapshotFolder, storedImages, poolSize: 0 }),
    ]
    await Promise.all(both.map((python) => python.program('1')))
    await filled(snapshotFolder)
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, (_, index) => both[index % 2]?.program('hash("one text")')),
    )
    const hashes = outcomes.map((outcome) => outcome?.result)
    expect(hashes).not.toContain(null)
    expect(new Set(hashes).size).toBe(4)
  }, 240_000)

  test('the call after the first finds a warm interpreter', async () => {
    const python = await opened({})
    await python.program('1')
    await vi.waitFor(
      async () => expect((await python.program('2')).heard).not.toContain('starting'),
      { timeout: 60_000, interval: 500 },
    )
  }, 90_000)

  test('a warm interpreter ends when it is not used for long', async () => {
    const python = await opened({ poolIdleMs: 1 })
    await python.program('1')
    expect((await python.program('2')).heard).toContain('starting')
  })

  test('a call that is aborted while Python starts ends at once, and the next call takes over the start', async () => {
    const python = await opened({})
    await python.program('1')
    const signal = AbortSignal.timeout(1)
    expect(await python.program('2', { signal })).toMatchObject({ status: 'stopped' })
    expect(await python.program('3')).toMatchObject({ status: 'completed', result: 3 })
  })

  test('more concurrent programs than warm interpreters all complete', async () => {
    const python = await opened({})
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, (_, index) => python.program(`${index} * 2`)),
    )
    expect(outcomes.map(({ result }) => result)).toEqual([0, 2, 4])
  })
})
