// The folder of Python's compiled standard library and memory images that all tests share; filling it takes 15 s.
import { mkdirSync, symlinkSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
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

/** Compiles Python's standard library if it is missing: once, not in each test file that finds an empty folder. */
export async function compileLibrary(): Promise<void> {
  // The images are closed to other users, but not the builds beside them: as root, the interpreter runs as another user if
  // that one can read its files, and each start of a server in a test would try again whether it can.
  const caches = dirname(SHARED_IMAGES)
  await mkdir(caches, { recursive: true })
  await chmod(caches, 0o755)
  const files = await findInterpreterFiles([])
  const snapshots = createPythonSnapshots({
    folder: SHARED_IMAGES,
    images: 0,
    files,
    launcher: createWasmLauncher(files),
    log: (message, details) => console.error(message, details),
  })
  await snapshots.fill()
  await snapshots.close()
}

/** Makes a server with this data folder use the shared library and images. */
export function shareImages(dataFolder: string): void {
  mkdirSync(SHARED_IMAGES, { recursive: true, mode: 0o700 })
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  symlinkSync(SHARED_IMAGES, join(dataFolder, 'python'))
}
