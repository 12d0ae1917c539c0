// The page and the server as tests need them, built once for all of them and again only when their sources have changed.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { buildServer, exists, filesOf } from '../../scripts/build-server.ts'

const root = resolve(import.meta.dirname, '../..')

/** Builds of other sources are kept this long: another process may be looking at one. */
const KEPT_MS = 24 * 3_600_000

interface Build {
  /** Of the folder in which its builds are kept. */
  name: string
  /** What it is made of: files and folders. */
  sources: readonly string[]
  make(folder: string): Promise<void>
}

/** The folder of the page built from the sources as they are. Not to be changed: all test files share it. */
export const builtPage = (): Promise<string> =>
  builtOnce({
    name: 'nanoclaw-page',
    sources: ['web', 'server/protocol', 'package-lock.json'],
    async make(outDir) {
      const { build } = await import('vite')
      await build({
        configFile: join(root, 'web/vite.config.ts'),
        logLevel: 'error',
        build: { outDir, emptyOutDir: true },
      })
    },
  })

/** The server's program built from the sources as they are: it starts in less than half their time. */
export const builtServer = async (): Promise<string> =>
  join(
    await builtOnce({
      name: 'nanoclaw-server',
      sources: ['server', 'scripts/build-server.ts', 'package-lock.json'],
      make: buildServer,
    }),
    'main.js',
  )

async function builtOnce({ name, sources, make }: Build): Promise<string> {
  const kept = join(root, 'node_modules/.cache', name)
  const folder = join(kept, await keyOf(sources))
  if (await exists(folder)) {
    await utimes(folder, new Date(), new Date())
    return folder
  }
  await mkdir(kept, { recursive: true })
  await forgetOld(kept)
  const building = await mkdtemp(join(kept, 'building-'))
  await make(building)
  // Complete or not there at all. When two built at once, the first one's is taken.
  await rename(building, folder).catch(async (error: unknown) => {
    await rm(building, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  })
  return folder
}

async function keyOf(sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) {
    const path = join(root, source)
    const files = (await stat(path)).isDirectory() ? await filesOf(path) : [path]
    for (const file of files.sort())
      hash.update(`${file.slice(root.length)}\0`).update(await readFile(file))
  }
  return hash.digest('hex').slice(0, 20)
}

async function forgetOld(kept: string): Promise<void> {
  for (const name of await readdir(kept)) {
    const path = join(kept, name)
    const found = await stat(path).catch(() => null) // another process may have been faster
    if (found !== null && Date.now() - found.mtimeMs > KEPT_MS)
      await rm(path, { recursive: true, force: true })
  }
}
