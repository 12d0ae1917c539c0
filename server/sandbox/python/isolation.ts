// Chooses the isolation for Python: tests it at startup with harmless probes and reports only what passed.
import type { BubblewrapState } from '../bubblewrap.ts'
import { runProcess } from '../process.ts'
import { startInterpreter } from './interpreter.ts'
import { createHostLauncher } from './isolation/host.ts'
import {
  createKernelLauncher,
  createWasmLauncher,
  type InterpreterFiles,
  type Isolation,
  kernelArguments,
  type Launcher,
} from './launch.ts'

/** The state of Python, for `/api/tools`, the log and the doctor. */
export interface PythonState {
  engine: 'wasm' | 'host'
  isolation: Isolation | 'none'
  available: boolean
  /** Why it is unavailable or less isolated than possible; null when everything works. */
  reason: string | null
}

const PROBE_TIMEOUT_MS = 10_000
/** A user that owns no files on a properly configured host. */
const NOBODY = { uid: 65534, gid: 65534 }

/**
 * A program that inspects the file system inside bubblewrap, without Node's restrictions, so that only the kernel decides what
 * it sees. It receives the paths bound into the new root, and prints every other path it finds and each bound one it cannot
 * read.
 */
const PROBE_PROGRAM = `
const fs = require('node:fs'), os = require('node:os'), { join } = require('node:path')
const bound = JSON.parse(process.argv[1])
const found = []
const visit = (folder) => {
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name)
    if (bound.includes(path)) continue
    if (bound.some((inside) => inside.startsWith(path + '/'))) visit(path)
    else if (found.length < 10) found.push(path)
  }
}
visit('/')
for (const path of bound)
  try {
    fs.accessSync(path, fs.constants.R_OK)
    if (fs.statSync(path).isDirectory())
      for (const name of fs.readdirSync(path)) fs.accessSync(join(path, name), fs.constants.R_OK)
  } catch { found.push('no permission to read ' + path) }
for (const [name, list] of Object.entries(os.networkInterfaces()))
  if (list.some((entry) => !entry.internal)) found.push('network ' + name)
if (process.getuid() === 0) found.push('root')
try { fs.writeFileSync('/probe', ''); found.push('a writable root') } catch {}
console.log(JSON.stringify(found))
`

/** Returns null when the kernel's isolation is complete, otherwise what is wrong. */
async function probeKernel(
  bubblewrap: string,
  wrapping: readonly string[],
  files: InterpreterFiles,
  user: { uid: number; gid: number } | null,
): Promise<string | null> {
  const bound = wrapping.filter((_, index) => wrapping[index - 2] === '--ro-bind')
  const outcome = await runProcess({
    command: bubblewrap,
    args: [...wrapping, '--', files.node, '-e', PROBE_PROGRAM, JSON.stringify(bound)],
    cwd: '/',
    env: {},
    timeoutMs: PROBE_TIMEOUT_MS,
    maxOutputBytes: 2_000,
    ...(user === null ? {} : { user }),
  })
  if (outcome.stdout.trim() === '[]') return null
  if (outcome.exitCode === 0) return `unexpected inside: ${outcome.stdout.trim()}`
  return outcome.stderr.trim().split('\n')[0] ?? 'it did not start'
}

/** Returns null when Node's restrictions hold for the interpreter's process, otherwise what is wrong. */
async function probeLock(launcher: Launcher): Promise<string | null> {
  const interpreter = startInterpreter({ launcher, mode: 'probe' })
  try {
    await interpreter.ready
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    interpreter.kill()
    await interpreter.ended
  }
}

/**
 * The launchers that passed in this process, so that another server or the doctor does not start the same two programs
 * again.
 */
const passed = new Set<string>()

async function tryKernel(
  files: InterpreterFiles,
  bubblewrap: BubblewrapState,
): Promise<{ launcher: Launcher } | { fault: string }> {
  if (!bubblewrap.available) return { fault: bubblewrap.reason }
  const wrapping = await kernelArguments(files)
  // As root, tries an unprivileged user first; that fails if other users cannot read the folder with the interpreter.
  const users = process.getuid?.() === 0 ? [NOBODY, null] : [null]
  let fault = 'bubblewrap does not work here'
  for (const user of users) {
    const launcher = createKernelLauncher({ files, bubblewrap: bubblewrap.path, wrapping, user })
    const key = JSON.stringify([bubblewrap, wrapping, files, user])
    if (passed.has(key)) return { launcher }
    const found =
      (await probeKernel(bubblewrap.path, wrapping, files, user)) ?? (await probeLock(launcher))
    if (found === null) {
      passed.add(key)
      return { launcher }
    }
    fault = `the isolation by bubblewrap is incomplete: ${found}`
  }
  return { fault }
}

/**
 * Chooses the isolation from the configuration and from what works: `auto` uses the kernel where possible, otherwise
 * WebAssembly for a single user and nothing for several. Fails closed: with a null launcher, nothing runs.
 */
export async function chooseLauncher(options: {
  files: InterpreterFiles
  isolation: 'auto' | 'kernel' | 'wasm'
  multiUser: boolean
  bubblewrap: BubblewrapState
}): Promise<{ state: PythonState; launcher: Launcher | null }> {
  const { files, isolation } = options
  const off = (reason: string): { state: PythonState; launcher: null } => ({
    state: { engine: 'wasm', isolation: 'none', available: false, reason },
    launcher: null,
  })
  let withoutKernel: string | null = null
  if (isolation !== 'wasm') {
    const kernel = await tryKernel(files, options.bubblewrap)
    if ('launcher' in kernel)
      return {
        state: { engine: 'wasm', isolation: 'kernel', available: true, reason: null },
        launcher: kernel.launcher,
      }
    withoutKernel = kernel.fault
    if (isolation === 'kernel')
      return off(`Kernel isolation is required but not available: ${kernel.fault}`)
    if (options.multiUser)
      return off(
        `Several users need kernel isolation: ${kernel.fault}. Make bubblewrap work, or accept WebAssembly isolation with code_execution.isolation: wasm`,
      )
  }
  const launcher = createWasmLauncher(files)
  const fault = await probeLock(launcher)
  if (fault !== null) return off(`The sandbox cannot be used: ${fault}`)
  const reason = withoutKernel === null ? null : `WebAssembly isolation only: ${withoutKernel}`
  return { state: { engine: 'wasm', isolation: 'wasm', available: true, reason }, launcher }
}

/** The host's Python, if configured; only inside bubblewrap. */
export async function chooseHostLauncher(
  bubblewrap: BubblewrapState,
): Promise<{ state: PythonState; launcher: Launcher | null }> {
  const found = await createHostLauncher(bubblewrap)
  const fault = 'fault' in found ? found.fault : await probeLock(found.launcher)
  if ('launcher' in found && fault === null)
    return {
      state: { engine: 'host', isolation: 'kernel', available: true, reason: null },
      launcher: found.launcher,
    }
  return {
    state: {
      engine: 'host',
      isolation: 'none',
      available: false,
      reason: `The engine "host" cannot be used: ${fault}`,
    },
    launcher: null,
  }
}
