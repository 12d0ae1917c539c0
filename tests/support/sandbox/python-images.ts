// The folder of Python's compiled standard library and memory images that all tests share; filling it takes 15 s.
import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync } from 'node:fs'
import { chmod, cp, link, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createWasmLauncher, findInterpreterFiles } from '../../../server/sandbox/python/launch.ts'
import { createPythonSnapshots } from '../../../server/sandbox/python/snapshots.ts'

/**
 * Persists between test runs, as a server's own folder does. Each checkout has its own, because a checkout removes
 * files that do not match its interpreter.
 */
export const SHARED_IMAGES = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/nanoclaw-python',
)

/**
 * Number of starts for which a memory image is at hand: more than all tests together need. An interpreter starts from an
 * image with half of the work: 0.53 instead of 1.06 s of processor time (means of two alternating runs each, load 12).
 */
const STARTS = 400
/** The end of an image's name, after the name of its library. */
const IMAGE_NAME = /-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.image$/

/**
 * Compiles Python's standard library if it is missing: once, not in each test file that finds an empty folder. Provides
 * memory images too. A server builds one for each start, because programs that share one share their hash seed; tests
 * run a single image under many names.
 */
export async function prepareImages(): Promise<void> {
  // The images are closed to other users, but not the builds beside them: as root, the interpreter runs as another user if
  // that one can read its files, and each start of a server in a test would try again whether it can.
  const caches = dirname(SHARED_IMAGES)
  await mkdir(caches, { recursive: true })
  await chmod(caches, 0o755)
  const files = await findInterpreterFiles([])
  const snapshots = createPythonSnapshots({
    folder: SHARED_IMAGES,
    images: 1,
    files,
    launcher: createWasmLauncher(files),
    log: (message, details) => console.error(message, details),
  })
  await snapshots.fill()
  await snapshots.close()
  await multiplyImages()
}

/** Gives an image of each library further names, as hard links, until there is one for each start. */
async function multiplyImages(): Promise<void> {
  const images = (await readdir(SHARED_IMAGES)).filter((name) => IMAGE_NAME.test(name))
  const libraryOf = (name: string): string => name.replace(IMAGE_NAME, '')
  for (const library of new Set(images.map(libraryOf))) {
    const own = images.filter((name) => libraryOf(name) === library)
    const [image] = own
    if (image === undefined) continue
    for (let count = own.length; count < STARTS; count += 1)
      await link(
        join(SHARED_IMAGES, image),
        join(SHARED_IMAGES, `${library}-${randomUUID()}.image`),
      )
  }
}

/** Makes a server with this data folder use the shared library and images. */
export function shareImages(dataFolder: string): void {
  mkdirSync(SHARED_IMAGES, { recursive: true, mode: 0o700 })
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  symlinkSync(SHARED_IMAGES, join(dataFolder, 'python'))
}

/** Copies the shared library, without the images, for a test in which each interpreter has a hash seed of its own. */
export const copyLibrary = (folder: string): Promise<void> =>
  cp(SHARED_IMAGES, folder, {
    recursive: true,
    filter: (path) => path === SHARED_IMAGES || path.endsWith('.library'),
  })
