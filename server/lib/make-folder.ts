// Creates folders that the operator names.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder for its owner only, and those above it. Unlike `mkdir` with `recursive`, it ends where the system refuses
 * a new folder as if its parent were missing, as in `/proc`.
 * @throws the system's error.
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.push(at)
  for (const folder of missing.reverse())
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!(statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false)) throw error
    }
  if (!statSync(path).isDirectory()) mkdirSync(path)
}
