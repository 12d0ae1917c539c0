// Writes a batch of small new files with synchronous I/O. Runs in the worker thread only.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { appError } from '../../errors.ts'
import { systemCode } from '../../lib/system-faults.ts'

/**
 * Creates files (0600) and their folders (0700). The caller has checked the paths, and `folder` belongs to the server.
 * Throws when a file exists.
 */
export function writeFiles(input: {
  folder: string
  files: readonly { path: string; bytes: Uint8Array }[]
}): { files: number } {
  const created = new Set<string>()
  for (const { path, bytes } of input.files) {
    const target = join(input.folder, path)
    const parent = dirname(target)
    if (!created.has(parent)) mkdirSync(parent, { recursive: true, mode: 0o700 })
    created.add(parent)
    try {
      writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
      throw appError('names_collide', { path })
    }
  }
  return { files: input.files.length }
}
