// Locates and starts the worker threads and child processes of the server, from the sources or from the build.
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * The path of such a program below `server/`, without extension. Its file is named `<name>.child.ts`; the build compiles it
 * to the same path below `dist/`.
 */
export type ChildPath = `${string}.child`

/** The program of a worker thread or child process, in the sources or in the build. */
export interface ChildEntry {
  /** Absolute path of the program. */
  file: string
  /** Flags for a Node child process: the TypeScript loader when run from the sources, else none. */
  execArgv: readonly string[]
}

const here = import.meta.url
const fromSources = here.endsWith('.ts')
/** The TypeScript loader; only present in a checkout of the sources. */
const loaderUrl = (): string => pathToFileURL(createRequire(here).resolve('tsx')).href

/** For child processes: what to pass to `spawn(process.execPath, [...execArgv, file])`. */
export function childEntry(place: ChildPath): ChildEntry {
  if (!fromSources) return { file: fileURLToPath(new URL(`./${place}.js`, here)), execArgv: [] }
  return {
    file: fileURLToPath(new URL(`../${place}.ts`, here)),
    execArgv: ['--import', loaderUrl()],
  }
}

/**
 * Starts a worker thread. From the sources, the thread registers the TypeScript loader itself, because Node 20 ignores
 * it in a thread's flags.
 */
export function startWorker(place: ChildPath, options: Omit<WorkerOptions, 'eval'> = {}): Worker {
  const { file } = childEntry(place)
  if (!fromSources) return new Worker(file, options)
  const loader = JSON.stringify(new URL('./esm/api/index.mjs', loaderUrl()).href)
  const program = JSON.stringify(pathToFileURL(file).href)
  const bootstrap = `import(${loader}).then((tsx) => { tsx.register(); return import(${program}) })`
  return new Worker(bootstrap, { ...options, eval: true, execArgv: [] })
}
