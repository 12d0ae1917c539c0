// The page as the browser tests need it, built once for all of them and again only when its sources have changed.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'

const root = resolve(import.meta.dirname, '../..')
const kept = join(root, 'node_modules/.cache/nanoclaw-page')

/** What the built page is made of. */
const sources = ['web', 'server/protocol', 'package-lock.json']

/** Builds of other sources are kept this long: another process may be looking at one. */
const KEPT_MS = 24 * 3_600_000

async function filesUnder(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function keyOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources)
    for (const file of await filesUnder(join(root, source)))
      hash.update(`${file.slice(root.length)}\0`).update(await readFile(file))
  return hash.digest('hex').slice(0, 20)
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The folder of the page built from the sources as they are. Not to be changed: all test files share it. */
export async function builtPage(): Promise<string> {
  const folder = join(kept, await keyOfSources())
  if (await exists(folder)) {
    await utimes(folder, new Date(), new Date())
    return folder
  }
  await mkdir(kept, { recursive: true })
  await forgetOld()
  const outDir = await mkdtemp(join(kept, 'building-'))
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    build: { outDir, emptyOutDir: true },
  })
  // Complete or not there at all. When two built at once, the first one's is taken.
  await rename(outDir, folder).catch(async (error: unknown) => {
    await rm(outDir, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  })
  return folder
}

async function forgetOld(): Promise<void> {
  for (const name of await readdir(kept)) {
    const path = join(kept, name)
    const found = await stat(path).catch(() => null) // another process may have been faster
    if (found !== null && Date.now() - found.mtimeMs > KEPT_MS)
      await rm(path, { recursive: true, force: true })
  }
}
