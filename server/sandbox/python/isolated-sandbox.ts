// The Python sandbox once the isolation is known: queues programs and runs each in its own interpreter.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { errorText } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import { detectBubblewrap } from '../bubblewrap.ts'
import { type CompiledFiles, createCompiledFiles } from './compiled-files.ts'
import type { Interpreter } from './interpreter.ts'
import { createPythonPool } from './isolated-sandbox/pool.ts'
import { chooseHostLauncher, chooseLauncher, type PythonState } from './isolation.ts'
import { findInterpreterFiles, type Launcher } from './launch.ts'
import { programRules, type Strictness, TIME_LIMIT_SECONDS } from './modules.ts'
import type { ProgramFile, ProgramListener, ProgramOutcome } from './program.ts'
import type { DescribedWheel } from './protocol.ts'

/** One program and its inputs. */
export interface PythonRequest {
  /** The owner of the program: users take turns. */
  owner?: string
  code: string
  strictness: Strictness
  /** Visible read-only under /workspace, and those whose path begins so under /skills. */
  files: readonly ProgramFile[]
}

/** Notified while a program runs. */
export interface PythonListener extends ProgramListener {
  /** Called when the call waits for an interpreter to start; not when a warm one was ready. */
  onStarting(): void
}

/** The sandbox with the isolation that works here; if none does, `run` returns the reason. */
export interface OpenedPython {
  readonly state: PythonState
  /** Packages that programs may import in addition to the standard library. */
  readonly packages: readonly string[]
  /** Never rejects. */
  run(
    request: PythonRequest,
    listener: PythonListener,
    signal: AbortSignal,
  ): Promise<ProgramOutcome>
  close(): Promise<void>
}

/** The operator's configuration of Python. */
export interface PythonOptions {
  /** CPython as WebAssembly, or the host's python3 for its native packages (bubblewrap only). */
  engine: 'wasm' | 'host'
  isolation: 'auto' | 'kernel' | 'wasm'
  /**
   * Whether the server has several users, who do not trust each other: then nothing runs without kernel isolation, unless
   * the operator chooses `wasm`.
   */
  multiUser: boolean
  /** Number of warm interpreters, and how long they stay after the last use. */
  poolSize: number
  poolIdleMs: number
  /** Folder of the compiled files that speed up starts. */
  compiledFolder: string
  /** Folder of wheels, or null. */
  packagesFolder: string | null
  extraModules: Partial<Record<Strictness, readonly string[]>>
  /** Wall-clock time limits of programs in seconds, instead of those of the levels. */
  timeLimits?: Readonly<Record<Strictness, number>>
  log(message: string, details: object): void
}

/** Programs that run concurrently; each may use 512 MB. */
const MAX_CONCURRENT_PROGRAMS = 8

/** The outcome of a program that did not run, or whose interpreter was lost. */
export const failedProgram = (status: ProgramOutcome['status'], error: string): ProgramOutcome => ({
  status,
  error,
  stdout: '',
  stderr: '',
  result: null,
  files: [],
  omittedFiles: 0,
})

/** Tests which isolation works here and sets up the interpreter pool. Never rejects: errors show in `state`. */
export async function openPythonSandbox(options: PythonOptions): Promise<OpenedPython> {
  try {
    const bubblewrap = await detectBubblewrap()
    if (options.engine === 'host') {
      const { state, launcher } = await chooseHostLauncher(bubblewrap)
      if (launcher === null) return createUnavailable(state)
      // The host's Python starts in tens of milliseconds, so it needs no warm pool and no compiled files.
      return createAvailable({
        ...options,
        poolSize: 0,
        state,
        launcher,
        wheels: [],
        compiled: noCompiledFiles,
      })
    }
    const folders = options.packagesFolder === null ? [] : [options.packagesFolder]
    const files = await findInterpreterFiles(folders)
    const { state, launcher } = await chooseLauncher({
      files,
      isolation: options.isolation,
      multiUser: options.multiUser,
      bubblewrap,
    })
    if (launcher === null) return createUnavailable(state)
    const wheels = await listWheels(folders, files.pyodide, (wheel, suitable) =>
      options.log('a Python package was built for another interpreter and is ignored', {
        wheel,
        suitable,
      }),
    )
    const compiled = createCompiledFiles({
      folder: options.compiledFolder,
      files,
      launcher,
      log: options.log,
    })
    return createAvailable({ ...options, state, launcher, wheels, compiled })
  } catch (error) {
    return createUnavailable({
      engine: options.engine,
      isolation: 'none',
      available: false,
      reason: `Python cannot be started: ${errorText(error)}`,
    })
  }
}

/** Stores nothing: every interpreter starts without compiled files. */
export const noCompiledFiles: CompiledFiles = {
  open: async () => ({ library: null, image: null, code: null, close: async () => {} }),
  discard: async () => {},
  fill: async () => {},
  close: async () => {},
}

const createUnavailable = (state: PythonState): OpenedPython => ({
  state,
  packages: [],
  run: async () => failedProgram('crashed', state.reason ?? 'Python is not available'),
  close: async () => {},
})

/** Creates a sandbox that runs programs with this launcher, `concurrent` at once. */
export function createAvailable(
  options: PythonOptions & {
    concurrent?: number
    state: PythonState
    launcher: Launcher
    wheels: readonly { name: string; file: string }[]
    compiled: CompiledFiles
  },
): OpenedPython {
  const { launcher, compiled, wheels, timeLimits = TIME_LIMIT_SECONDS } = options
  const pool = createPythonPool({
    launcher,
    compiled,
    size: options.poolSize,
    idleMs: options.poolIdleMs,
    log: options.log,
  })
  const queue = createFairQueue({ size: options.concurrent ?? MAX_CONCURRENT_PROGRAMS })
  const shutdown = new AbortController()
  const running = new Set<Promise<unknown>>()

  let described: Promise<DescribedWheel[]> | null = null
  /** The wheels are read once, before the first program; if that fails, there are no packages. */
  const describedWheels = (): Promise<DescribedWheel[]> => {
    if (wheels.length === 0) return Promise.resolve([])
    described ??= pool
      .acquire(shutdown.signal, () => {})
      .then((interpreter) => describeWheels(wheels, interpreter))
      .catch((error: unknown) => {
        options.log('the Python packages cannot be read', { error })
        return []
      })
    return described
  }

  const rules = (strictness: Strictness, packages: readonly DescribedWheel[]) =>
    programRules(
      strictness,
      options.extraModules,
      packages.flatMap(({ imports }) => imports),
    )

  async function runNow(
    request: PythonRequest,
    listener: PythonListener,
    signal: AbortSignal,
  ): Promise<ProgramOutcome> {
    try {
      signal.throwIfAborted()
      const packages = await untilAborted(describedWheels(), signal)
      const interpreter = await pool.acquire(signal, listener.onStarting)
      const program = {
        code: request.code,
        strictness: request.strictness,
        ...rules(request.strictness, packages),
        files: request.files,
        wheels: packages,
        limitMs: timeLimits[request.strictness] * 1000,
      }
      const outcome = await interpreter.run(program, listener, signal)
      // Waits until the process has ended, so that nothing is left running.
      await interpreter.ended
      return outcome
    } catch (error) {
      if (signal.aborted) return failedProgram('stopped', 'Stopped before the program ended.')
      options.log('a Python program could not be run', { error })
      return failedProgram('crashed', `Python did not start: ${errorText(error)}`)
    }
  }

  return {
    state: options.state,
    packages: wheels.map(({ name }) => name),
    run(request, listener, signal) {
      const combined = AbortSignal.any([signal, shutdown.signal])
      const work = queue.run(request.owner ?? null, () => runNow(request, listener, combined))
      running.add(work)
      return work.finally(() => running.delete(work))
    },
    async close() {
      shutdown.abort()
      await Promise.all([pool.close(), ...running])
    },
  }
}

const MAX_WHEELS = 1000

/** A distribution's name in the normalized form of requirements (PEP 503). */
const normalName = (fileName: string): string =>
  (fileName.split('-')[0] ?? '').replace(/[-_.]+/g, '-').toLowerCase()

const PyodideLock = z.object({ info: z.object({ abi_version: z.string(), platform: z.string() }) })

/** The file name endings of wheels that the Pyodide in `folder` can load: pure Python, or built for its version. */
async function suitableEndings(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'pyodide-lock.json'), 'utf8')
  const { abi_version, platform } = PyodideLock.parse(JSON.parse(text)).info
  return [
    '-none-any.whl',
    `pyemscripten_${abi_version}_wasm32.whl`,
    `pyodide_${abi_version}_wasm32.whl`,
    `${platform}_wasm32.whl`,
  ]
}

/** Lists wheels that this interpreter can load, one file per distribution; the others are passed to `onUnsuitable`. */
async function listWheels(
  folders: readonly string[],
  pyodide: string,
  onUnsuitable: (fileName: string, suitable: readonly string[]) => void,
): Promise<{ name: string; file: string }[]> {
  if (folders.length === 0) return []
  const endings = await suitableEndings(pyodide)
  const found = new Map<string, string>()
  for (const folder of folders)
    for (const fileName of (await readdir(folder)).sort())
      if (endings.some((ending) => fileName.endsWith(ending)))
        found.set(normalName(fileName), join(folder, fileName))
      else if (fileName.endsWith('.whl')) onUnsuitable(fileName, endings)
  return [...found].slice(0, MAX_WHEELS).map(([name, file]) => ({ name, file }))
}

/**
 * Has an interpreter read which modules the wheels contain and which distributions they require. Only names are taken from
 * its output; the paths remain the listed ones.
 */
async function describeWheels(
  wheels: readonly { name: string; file: string }[],
  interpreter: Interpreter,
): Promise<DescribedWheel[]> {
  if (wheels.length === 0) return []
  try {
    await interpreter.ready
    const described = await interpreter.describe(wheels)
    return wheels.flatMap((wheel, index) => {
      const description = described[index]
      return description === undefined ? [] : [{ ...description, ...wheel }]
    })
  } finally {
    interpreter.kill()
  }
}
