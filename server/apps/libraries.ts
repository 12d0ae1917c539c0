// The libraries that apps can use: pinned, and served from the origin of apps, so that apps need no other server.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { systemCode } from '../lib/system-faults.ts'
import type { AppLibrary } from '../protocol/projects/app.ts'

/** What the build of the page says about its libraries (`web/app-libraries.ts`). Modules are files of its folder `assets`. */
const Manifest = z.array(
  z.object({ name: z.string(), version: z.string(), modules: z.record(z.string(), z.string()) }),
)

/** The path of libraries below `/v/`, in the place of a token. */
export const LIBRARIES = '-'

const LIBRARY_FILE = /^(?:libraries|mermaid-[\w.]+)\/(?:chunks\/)?(?:[\w.-]+\/)?[\w-][\w.-]*\.m?js$/

/** Endings of compressed files, by their encoding. */
const ENDINGS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }

/** Nothing is there if the page was not built. */
export interface AppLibraries {
  list(): Promise<AppLibrary[]>
  /** What can be imported, with its path at the origin of apps. */
  modules(): Promise<ReadonlyMap<string, string>>
  /**
   * The file at a path below `/v/-/`; null if there is none.
   * @param encodings those of HTTP that the browser accepts, the best first.
   */
  find(path: string, encodings: readonly string[]): Promise<LibraryFile | null>
}

/** `encoding` is null if the file is not compressed. */
interface LibraryFile {
  file: string
  encoding: string | null
}

/** @param webRoot folder of the built page. */
export function createAppLibraries(webRoot: string): AppLibraries {
  const assets = join(webRoot, 'assets')
  let reading: Promise<z.infer<typeof Manifest>> | undefined
  const manifest = () => {
    reading ??= read(join(assets, 'libraries', 'libraries.json'))
    return reading
  }
  return {
    list: async () => (await manifest()).map(({ name, version }) => ({ name, version })),
    async modules() {
      const all = (await manifest()).flatMap(({ modules }) => Object.entries(modules))
      return new Map(all.map(([name, file]) => [name, `/v/${LIBRARIES}/${file}`]))
    },
    async find(path, encodings) {
      if (!LIBRARY_FILE.test(path) || path.includes('..')) return null
      const file = join(assets, path)
      for (const encoding of encodings) {
        const compressed = file + (ENDINGS[encoding] ?? '')
        if (compressed !== file && (await isFile(compressed))) return { file: compressed, encoding }
      }
      return (await isFile(file)) ? { file, encoding: null } : null
    },
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

async function read(file: string): Promise<z.infer<typeof Manifest>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '[]'
    throw error
  })
  return Manifest.parse(JSON.parse(text))
}
