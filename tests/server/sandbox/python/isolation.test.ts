// Which isolation is chosen and when Python is unavailable; packages from the operator's folder; compiled files.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { chooseLauncher } from '../../../../server/sandbox/python/isolation.ts'
import { findInterpreterFiles } from '../../../../server/sandbox/python/launch.ts'
import { eventually } from '../../../support/eventually.ts'
import { SHARED_COMPILED } from '../../../support/sandbox/compiled-python.ts'
import { openPython, type TestSandbox } from '../../../support/sandbox/python.ts'
import { descendants, processes } from '../../../support/server/process-tree.ts'

/** Logged at each start, and no problem. */
const STATED = 'isolation of Python programs'

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

test.for(['kernel', 'wasm'] as const)(
  'a killed server leaves no interpreter behind, under %s isolation',
  { timeout: 120_000 },
  async (isolation, { skip }) => {
    const bubblewrap = await detectBubblewrap()
    if (isolation === 'kernel' && !bubblewrap.available) skip(bubblewrap.reason)
    if (process.platform !== 'linux') skip('only Linux lists the processes in /proc')
    const program = join(import.meta.dirname, '../../../support/sandbox/endless-python.ts')
    const server = spawn(process.execPath, ['--import', 'tsx', program, isolation], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(server.stdout, 'data')
    const below = await descendants(server.pid ?? 0)
    expect(below.length).toBeGreaterThan(0)
    server.kill('SIGKILL')
    await eventually(async () => {
      const alive = await processes()
      expect(below.filter((pid) => alive.has(pid))).toEqual([])
    })
  },
)

describe('packages of the operator', () => {
  const wheels = () => join(folder, 'wheels')
  beforeAll(async () => {
    await mkdir(wheels(), { recursive: true })
    // Two tiny packages, one of which depends on the other.
    const top = 'Requires-Dist: tiny.base (>=1.0)\nRequires-Dist: numpy ; extra == "fast"\n'
    await writeWheel('tiny_base', 'tinybase', 'def double(x):\n    return 2 * x\n')
    await writeWheel('tiny_top', 'tinytop', 'import os\nfrom tinybase import double\n', top)
  })
  async function writeWheel(name: string, module: string, code: string, requires = '') {
    const about = `${name}-1.0.dist-info`
    const archive = zipSync({
      [`${module}/__init__.py`]: strToU8(code),
      [`${about}/METADATA`]: strToU8(
        `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n${requires}`,
      ),
      [`${about}/WHEEL`]: strToU8('Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
      [`${about}/RECORD`]: new Uint8Array(),
    })
    await writeFile(join(wheels(), `${name}-1.0-py3-none-any.whl`), archive)
  }

  test.for(['kernel', 'wasm'] as const)(
    '%s isolation serves several users, and a program imports a package and its dependency offline',
    async (isolation, { skip }) => {
      const bubblewrap = await detectBubblewrap()
      if (isolation === 'kernel' && !bubblewrap.available) skip(bubblewrap.reason)
      const python = await opened({
        isolation,
        multiUser: true,
        packagesFolder: wheels(),
        poolSize: 0,
      })
      expect(python.state).toEqual({ engine: 'wasm', isolation, available: true, reason: null })
      expect(python.packages).toEqual(['tiny-base', 'tiny-top'])
      expect(await python.program('import tinytop\ntinytop.double(21)')).toMatchObject({
        status: 'completed',
        result: 42,
      })
      // What a level allows does not depend on the isolation.
      if (isolation === 'kernel') return
      const strict = await python.program('import tinytop', { strictness: 'strict' })
      expect(strict).toMatchObject({ status: 'refused' })
    },
  )

  test('a file that is not a valid wheel does not stop other programs', async () => {
    const broken = join(folder, 'broken')
    await mkdir(broken)
    await writeFile(join(broken, 'bad-1.0-py3-none-any.whl'), 'no archive')
    // Wheels for another Pyodide version, and for no Pyodide at all.
    await writeFile(join(broken, 'old-1.0-cp312-cp312-pyodide_2024_0_wasm32.whl'), '')
    await writeFile(join(broken, 'native-1.0-cp314-cp314-manylinux_2_28_x86_64.whl'), '')
    const log: unknown[] = []
    const python = await opened({
      packagesFolder: broken,
      poolSize: 0,
      log: (message, details) => message === STATED || log.push(details),
    })
    expect(python.packages).toEqual(['bad'])
    expect(log).toMatchObject([
      { wheel: expect.stringContaining('native-1.0') },
      { wheel: expect.stringContaining('old-1.0'), suitable: expect.any(Array) },
    ])
    expect(await python.program('1 + 1')).toMatchObject({ status: 'completed', result: 2 })
  })
})

test('compiled files are built at first use and work in every later start, each with its own random numbers; unusable ones stop no program', async () => {
  const compiledFolder = join(folder, 'compiled')
  // Compiling Python's library takes longer than all of this test; how it is made again is tested with the pool.
  await cp(SHARED_COMPILED, compiledFolder, {
    recursive: true,
    filter: (path) => path === SHARED_COMPILED || path.endsWith('.library'),
  })
  const codeIn = async (): Promise<string[]> =>
    (await readdir(compiledFolder)).filter((name) => name.endsWith('.code'))
  const log: string[] = []
  const python = await opened({
    compiledFolder,
    poolSize: 0,
    log: (message) => message === STATED || log.push(message),
  })
  expect(await python.program('1')).toMatchObject({ result: 1 })
  await eventually(async () => expect(await codeIn()).toHaveLength(1))
  const seeds = await Promise.all(
    Array.from({ length: 3 }, () =>
      python.program(
        'import random\n[random.random(), random.random(), random.SystemRandom().random()]',
      ),
    ),
  )
  const numbers = seeds.flatMap(({ result }) => result)
  expect(numbers).not.toContain(null)
  expect(new Set(numbers).size).toBe(9)
  expect(log).toEqual([])
  await python.close()

  // Intact, but made by another V8: the second number of the header is a hash of its version.
  const [made = ''] = await codeIn()
  const content = await readFile(join(compiledFolder, made))
  content.writeUInt32LE(content.readUInt32LE(4) ^ 1, 4)
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 32)
  const foreign = made.replace(/-[\da-f]{32}\./, `-${digest}.`)
  await rm(join(compiledFolder, made))
  await writeFile(join(compiledFolder, foreign), content)
  const again = await opened({
    compiledFolder,
    poolSize: 0,
    log: (message) => message === STATED || log.push(message),
  })
  expect(await again.program('2')).toMatchObject({ status: 'completed', result: 2 })
  expect(log).toEqual(['Python did not start with its compiled files; starting without them'])
  expect(await codeIn()).not.toContain(foreign)
}, 300_000)
