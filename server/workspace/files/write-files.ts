// Many small new files at once. Runs in the worker thread only, where waiting for the disk holds up nobody.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { appError } from '../../errors.ts'
import { systemCode } from './faults.ts'

/** Writes files that are not there yet (0600) with their folders (0700). Paths are checked and `folder` is the server's own. */
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
