// Builds of the page, the server and the programs of tests, which all tests share; rebuilt only when their sources have changed.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { build as bundle } from 'esbuild'
import { buildServer, exists, filesOf } from '../../scripts/build-server.ts'

const root = resolve(import.meta.dirname, '../..')

/** How long builds of other sources are kept: another process may still be using one. */
const KEPT_MS = 24 * 3_600_000

/** Far longer than a build takes. */
const LONGEST_BUILD_MS = 120_000

interface Build {
  /** Name of the folder that holds the builds. */
  name: string
  /** Files and folders whose contents determine the build. */
  sources: readonly string[]
  make(folder: string): Promise<void>
}

/** Returns the folder of the page, built from the current sources. Read-only: all test files share it. */
export const builtPage = (): Promise<string> =>
  builtOnce({
    name: 'nanoclaw-page',
    sources: ['web', 'locales', 'server/protocol', 'package-lock.json'],
    async make(outDir) {
      // In a process of its own: in this one, React would be built for development, which is slower and not what users run.
      const vite = join(root, 'node_modules/vite/bin/vite.js')
      const config = join(root, 'web/vite.config.ts')
      await promisify(execFile)(
        process.execPath,
        [
          vite,
          'build',
          '--config',
          config,
          '--logLevel',
          'error',
          '--outDir',
          outDir,
          '--emptyOutDir',
        ],
        { cwd: root, env: { ...process.env, NODE_ENV: 'production' } },
      )
    },
  })

/** Returns the path of `main.js`, built from the current sources: it starts in under half the time of the sources. */
export const builtServer = async (): Promise<string> =>
  join(
    await builtOnce({
      name: 'nanoclaw-server',
      sources: ['server', 'locales', 'skills', 'scripts/build-server.ts', 'package-lock.json'],
      make: buildServer,
    }),
    'main.js',
  )

/** Programs of the tests that run as child processes, below `tests/support/`, without extension. */
export const PROGRAMS = [
  'files/blob-writer',
  'files/workspace-writer',
  'sandbox/few-files-main',
  'store/attachment-mover-process',
  'store/store-writer',
] as const

/** Returns the folder with a file `<program>.mjs` for each of the programs. */
export const builtPrograms = (): Promise<string> =>
  builtOnce({
    name: 'nanoclaw-programs',
    sources: [
      'server',
      ...PROGRAMS.map((program) => `tests/support/${program}.ts`),
      'package-lock.json',
    ],
    async make(folder) {
      await bundle({
        entryPoints: PROGRAMS.map((program) => join(root, `tests/support/${program}.ts`)),
        outbase: join(root, 'tests/support'),
        outdir: folder,
        outExtension: { '.js': '.mjs' },
        bundle: true,
        packages: 'external',
        platform: 'node',
        format: 'esm',
        logLevel: 'warning',
      })
    },
  })

async function builtOnce({ name, sources, make }: Build): Promise<string> {
  const kept = join(root, 'node_modules/.cache', name)
  const folder = join(kept, await keyOf(sources))
  await mkdir(kept, { recursive: true })
  // Several test processes start at once: one of them builds, the others wait for it.
  const lock = `${folder}.lock`
  while (!(await exists(folder))) {
    if (!(await isTaken(lock))) {
      try {
        await buildInto(folder, kept, make)
      } finally {
        await rm(lock, { recursive: true, force: true })
      }
      break
    }
    await sleep(200)
  }
  await utimes(folder, new Date(), new Date())
  return folder
}

async function buildInto(folder: string, kept: string, make: Build['make']): Promise<void> {
  await forgetOld(kept)
  const building = await mkdtemp(join(kept, 'building-'))
  await make(building)
  // Renaming makes the build appear complete or not at all. If two processes build at once, the first one wins.
  await rename(building, folder).catch(async (error: unknown) => {
    await rm(building, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  })
}

/** Takes the lock unless another process has it; one that was left behind by a killed process counts for two minutes. */
async function isTaken(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return false
  } catch (error) {
    const found = await stat(lock).catch(() => null)
    // Released in this moment: the caller looks again.
    if (found === null) return true
    if (!found.isDirectory()) throw error
    return Date.now() - found.mtimeMs < LONGEST_BUILD_MS
  }
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
    const found = await stat(path).catch(() => null) // another process may have removed it
    if (found !== null && Date.now() - found.mtimeMs > KEPT_MS)
      await rm(path, { recursive: true, force: true })
  }
}
