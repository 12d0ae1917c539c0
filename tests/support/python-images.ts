// The folder of Python's compiled library and memory images that all tests share: to fill an empty one takes 15 s of work.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Kept from one test run to the next, as a server keeps its own beside its data. Each checkout has its own: another one
 * would remove what does not fit its interpreter.
 */
export const SHARED_IMAGES = resolve(
  import.meta.dirname,
  '../../node_modules/.cache/nanoclaw-python',
)

/** Makes a server with this data folder start Python from the shared images. */
export function shareImages(dataFolder: string): void {
  mkdirSync(SHARED_IMAGES, { recursive: true, mode: 0o700 })
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  symlinkSync(SHARED_IMAGES, join(dataFolder, 'python'))
}
