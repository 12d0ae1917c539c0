// React components as apps: compiled in a worker thread, and looked through before their document is sent.
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import { hashInPieces } from '../workspace/outside-text.ts'
import type { CompiledComponent } from '../workspace/worker/compile-component.ts'
import type { WorkerPool } from '../workspace/worker/worker-pool.ts'
import type { AppLibraries } from './libraries.ts'

/** Longer sources are not compiled. */
const MAX_SOURCE_BYTES = 1024 * 1024
/** A component with more files than this is not looked through further: the browser reports what is wrong in the rest. */
const MAX_FILES = 200
const TIMEOUT_MS = 10_000
/** Compiled sources that are kept, by their length. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024

/** What is wrong with a component, as its user reads it. */
export interface ComponentFault {
  message: string
  line: number | null
}

/** A file of the app with its path; null if there is none. */
type ReadFile = (path: string) => Promise<{ path: string; bytes: Buffer } | null>

/** Whether the server compiles a file before it sends it as a module. */
export const isCompiled = (path: string): boolean => /\.(?:[jt]sx|ts)$/i.test(path)

/** Endings that an import may leave out. */
const ENDINGS = ['.tsx', '.ts', '.jsx', '.js', '.mjs']

/** The paths at which an imported file may be, the most likely first. */
export const pathsOfImport = (path: string): string[] => [
  path,
  ...ENDINGS.map((ending) => path + ending),
  ...ENDINGS.map((ending) => `${path}/index${ending}`),
]

/** Compiles components, and finds what is wrong with them. */
export type Components = ReturnType<typeof createComponents>

/** Create one per server. */
export function createComponents({
  pool,
  libraries,
}: {
  pool: Pick<WorkerPool, 'run'>
  libraries: AppLibraries
}) {
  const kept = new LRUCache<string, CompiledComponent>({
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: (result) => 1 + (result.ok ? result.code.length : result.message.length),
  })

  async function compile(owner: UserId, path: string, bytes: Buffer): Promise<CompiledComponent> {
    if (bytes.length > MAX_SOURCE_BYTES)
      return { ok: false, message: 'This file is too large to be compiled.', line: null }
    const ending = path.slice(path.lastIndexOf('.')).toLowerCase()
    const key = `${ending} ${await hashInPieces(bytes)}`
    const found = kept.get(key)
    if (found !== undefined) return found
    const source = bytes.toString('utf8')
    try {
      const result = await pool.run(
        'compile_component',
        { path: ending, source },
        { timeoutMs: TIMEOUT_MS, owner },
      )
      kept.set(key, result)
      return result
    } catch (error) {
      // Too slow: a fault of the file, as far as its user can tell.
      if (error instanceof AppError && error.status < 500)
        return { ok: false, message: error.message, line: null }
      throw error
    }
  }

  return {
    compile,

    /** What is wrong with a component or a file that it imports, directly or not; null if nothing is. */
    async faultOf(
      owner: UserId,
      main: { path: string; bytes: Buffer },
      readFile: ReadFile,
    ): Promise<ComponentFault | null> {
      const known = new Set((await libraries.modules()).keys())
      const seen = new Set([main.path])
      const open = [main]
      for (let file = open.shift(); file !== undefined; file = open.shift()) {
        const { path } = file
        const say = (message: string, line: number | null): ComponentFault => ({
          message: path === main.path ? message : `${path}: ${message}`,
          line,
        })
        const result = await compile(owner, path, file.bytes)
        if (!result.ok) return say(result.message, result.line)
        if (path === main.path && !result.hasDefault)
          return say(
            'The file exports no component as its default: export default function App() {…}',
            null,
          )
        for (const { specifier, line } of result.imports) {
          if (known.has(specifier)) continue
          if (!/^\.{1,2}\//.test(specifier))
            return say(
              `“${specifier}” is not there to be imported. Apps have ${[...known].join(', ')} and their own files.`,
              line,
            )
          const imported = await findImport(path, specifier, readFile)
          if (imported === null)
            return say(`The file “${specifier}” is not in the folder of the app.`, line)
          if (!isCompiled(imported.path) || seen.has(imported.path) || seen.size >= MAX_FILES)
            continue
          seen.add(imported.path)
          open.push(imported)
        }
      }
      return null
    },
  }
}

/** Null for a path whose `%` signs encode nothing. */
function decodedPath(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname.slice(1))
  } catch {
    return null
  }
}

async function findImport(
  from: string,
  specifier: string,
  readFile: ReadFile,
): Promise<{ path: string; bytes: Buffer } | null> {
  // As the browser resolves it.
  const base = from.split('/').map(encodeURIComponent).join('/')
  const { pathname } = new URL(specifier, new URL(base, 'http://app/'))
  const named = decodedPath(pathname)
  if (named === null) return null
  for (const path of pathsOfImport(named)) {
    const found = await readFile(path)
    if (found !== null) return found
  }
  return null
}
