// Writes many small new files at once. Only runs in the worker thread, where waiting for the disk blocks nobody.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { appError } from '../../errors.ts'
import { systemCode } from './faults.ts'

/**
 * Writes files that do not exist yet (0600) with their folders (0700). Paths are checked, and `folder` belongs to the
 * server.
 */
export function writeFiles(input: {
  folder: string
  files: readonly { path: string; bytes: Uint8Array }[]
}): { files: number } {
  const made = new Set<string>()
  for (const { path, bytes } of input.files) {
    const target = join(input.folder, path)
    const parent = dirname(target)
    if (!made.has(parent)) mkdirSync(parent, { recursive: true, mode: 0o700 })
    made.add(parent)
    try {
      writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
      throw appError('names_collide', { path })
    }
  }
  return { files: input.files.length }
}
