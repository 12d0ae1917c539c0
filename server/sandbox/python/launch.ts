// Starts the process of a Python interpreter, restricted by Node's permission model and, where possible, bubblewrap.
import { readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProcessOptions } from '../process.ts'

/** Bytes that a program may write to the interpreter's private file system. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
/** WebAssembly pages of 64 KiB: the 512 MB that a program may use. */
const MAX_MEMORY_PAGES = 8192
/**
 * Roughly the bytes of code that a WebAssembly function executes before V8 optimizes it. Node 20's 1.8 million optimizes what
 * only the start needs (decision 0018). Programs that compute for seconds take no longer.
 */
const OPTIMIZING_THRESHOLD = 100_000_000
/** V8 accepts machine code only under the flags it was made with. */
export const V8_FLAGS: readonly string[] = [
  '--disallow-code-generation-from-strings',
  '--max-old-space-size=256',
  // One program's JavaScript objects are few: marking them on other threads slowed each start (decision 0018).
  '--single-threaded-gc',
  `--wasm-max-mem-pages=${MAX_MEMORY_PAGES}`,
  `--wasm-tiering-budget=${OPTIMIZING_THRESHOLD}`,
]
/** Maximum bytes returned of stdout and of stderr. */
export const MAX_OUTPUT_BYTES = 100 * 1024
/** Maximum total bytes and number of the files returned from /output. */
export const MAX_RESULT_BYTES = 10 * 1024 * 1024
export const MAX_RESULT_FILES = 20
/** CPU seconds: the backstop for an interpreter whose server was killed. */
const MAX_CPU_SECONDS = 90

/** The paths of the interpreter's files, the only ones that it can read on the host. */
export interface InterpreterFiles {
  node: string
  child: string
  /** The modules that `child` imports. */
  childModules: readonly string[]
  /** Python modules to install in the interpreter. */
  pythonModules: readonly string[]
  /** Scripts that build the compiled files of later starts. */
  builders: readonly string[]
  pyodide: string
  /** A package that Pyodide imports at startup. */
  webSockets: string
  /** Folders of wheels from the operator. */
  packages: readonly string[]
}

/** `library`, `image` and `code` build a file for later starts and never run programs of users. */
export type InterpreterMode = 'probe' | 'library' | 'image' | 'code' | 'serve'

/** The options for starting an interpreter. */
export interface InterpreterPlan {
  mode: InterpreterMode
  /** Descriptor of the compiled standard library, or null to use Pyodide's own. */
  library: number | null
  /** Descriptor of the memory image to start from, or null to start Python from scratch. Only with the library of its build. */
  image: number | null
  /** Descriptor of the interpreter's machine code, or null to compile it. */
  code: number | null
  /** Descriptor of the file to build, or null. */
  output: number | null
}

/** What separates programs from the host: the kernel (bubblewrap), or only the WebAssembly machine. */
export type Isolation = 'kernel' | 'wasm'

/** Builds the command that starts an interpreter. */
export interface Launcher {
  readonly isolation: Isolation
  command(plan: InterpreterPlan): Pick<ProcessOptions, 'command' | 'args' | 'user'>
}

/** Finds the interpreter's files in the sources or in the build (where `sandbox/child` is beside the bundle). */
export async function findInterpreterFiles(packages: readonly string[]): Promise<InterpreterFiles> {
  const here = import.meta.url
  const folder = fileURLToPath(
    new URL(here.endsWith('.ts') ? '../child/' : './sandbox/child/', here),
  )
  const inFolder = (...names: string[]): Promise<string[]> =>
    Promise.all(names.map((name) => realpath(join(folder, name))))
  const require = createRequire(here)
  const pyodide = dirname(await realpath(require.resolve('pyodide/package.json')))
  const webSockets = dirname(
    await realpath(createRequire(join(pyodide, 'pyodide.mjs')).resolve('ws/package.json')),
  )
  return {
    node: await realpath(process.execPath),
    child: await realpath(join(folder, 'interpreter.mjs')),
    childModules: await inFolder('lock.mjs', 'machine-code.mjs', 'pipes.mjs'),
    pythonModules: await inFolder('nanoclaw_runner.py', 'nanoclaw_wheels.py'),
    builders: await inFolder('compile_library.py', 'sample_program.py'),
    pyodide,
    webSockets,
    packages: await Promise.all(packages.map((path) => realpath(path))),
  }
}

function nodeArguments(files: InterpreterFiles, plan: InterpreterPlan): string[] {
  const major = Number(process.versions.node.split('.')[0])
  const readable = [
    files.child,
    ...files.childModules,
    ...files.pythonModules,
    ...files.builders,
    join(files.pyodide, '*'),
    join(files.webSockets, '*'),
    ...files.packages.map((folder) => join(folder, '*')),
  ]
  const options = {
    ...plan,
    pyodideModule: join(files.pyodide, 'pyodide.mjs'),
    pythonModules: files.pythonModules,
    builders: files.builders,
    timeZone: process.env.TZ ?? 'UTC',
    maxFileBytes: MAX_FILE_BYTES,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    maxResultBytes: MAX_RESULT_BYTES,
    maxResultFiles: MAX_RESULT_FILES,
  }
  return [
    '--no-warnings',
    major < 22 ? '--experimental-permission' : '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...V8_FLAGS,
    files.child,
    JSON.stringify(options),
  ]
}

/** Adds limits that the kernel enforces on every Unix, even when the server can no longer enforce its own. */
function withLimits(command: string, args: readonly string[]): { command: string; args: string[] } {
  if (process.platform === 'win32') return { command, args: [...args] }
  const script = `ulimit -c 0; ulimit -t ${MAX_CPU_SECONDS}; exec "$@"`
  return { command: '/bin/sh', args: ['-c', script, 'sandbox', command, ...args] }
}

/** Isolates the interpreter with Node's permission model and WebAssembly only. */
export const createWasmLauncher = (files: InterpreterFiles): Launcher => ({
  isolation: 'wasm',
  command: (plan) => withLimits(files.node, nodeArguments(files, plan)),
})

/**
 * The shared libraries that this Node has loaded and the isolated one needs too, by the name that the loader looks up
 * (`libstdc++.so.6.0.30` as `libstdc++.so.6`).
 */
async function loadedLibraries(): Promise<Map<string, string>> {
  const maps = await readFile('/proc/self/maps', 'utf8')
  const found = new Map<string, string>()
  for (const line of maps.split('\n')) {
    const path = line.slice(line.indexOf('/'))
    const name = /^\/.*\.so(\.\d+)?(?=(\.\d+)*$)/.exec(path)?.[0]
    if (name !== undefined && !path.includes('/node_modules/')) found.set(name, path)
  }
  return found
}

/** Possible paths of the dynamic loader that Node's binary names; it must exist in the new root too. */
const LOADERS = [
  '/lib64/ld-linux-x86-64.so.2',
  '/lib/ld-linux-aarch64.so.1',
  '/lib/ld-linux-armhf.so.3',
  '/lib/ld-musl-x86_64.so.1',
  '/lib/ld-musl-aarch64.so.1',
]

/** Arguments that build the new root: Node, its libraries, the interpreter; no /usr, no /etc, no /proc, no network, no session of its own (bubblewrap.ts). */
export async function kernelArguments(files: InterpreterFiles): Promise<string[]> {
  const args = [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--uid',
    '65534',
    '--gid',
    '65534',
    '--hostname',
    'sandbox',
    '--clearenv',
  ]
  for (const [name, path] of await loadedLibraries()) args.push('--ro-bind', path, name)
  const readable = [
    files.node,
    dirname(files.child),
    files.pyodide,
    files.webSockets,
    ...files.packages,
  ]
  for (const path of new Set(readable)) args.push('--ro-bind', path, path)
  for (const loader of LOADERS) {
    const target = await realpath(loader).catch(() => null)
    if (target !== null) args.push('--ro-bind', target, loader)
  }
  args.push('--remount-ro', '/', '--chdir', '/')
  return args
}

/** Starts the same process inside bubblewrap. `wrapping`: the result of `kernelArguments`. */
export const createKernelLauncher = (options: {
  files: InterpreterFiles
  bubblewrap: string
  wrapping: readonly string[]
  user: { uid: number; gid: number } | null
}): Launcher => ({
  isolation: 'kernel',
  command: (plan) => ({
    ...withLimits(options.bubblewrap, [
      ...options.wrapping,
      '--',
      options.files.node,
      ...nodeArguments(options.files, plan),
    ]),
    ...(options.user === null ? {} : { user: options.user }),
  }),
})
