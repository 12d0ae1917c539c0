// The index of a snapshot: what every path of a project held, so that the next snapshot only reads changed files. Runs in
// the worker thread only.
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PathContent } from '../../../db/tables/projects/checkpoints.ts'

interface Known {
  content: PathContent
  /** Size, times and inode of the entry when `content` was read; '' means: read it again. */
  stat: string
  /** Whether its content is stored. The field names are part of the file format. */
  kept: boolean
}
/** What the last snapshot recorded of each file, by path, so that unchanged files need not be read again. */
export type Index = Map<string, Known>

const VERSION = 1
const fileOf = (folder: string): string => join(folder, 'index.json')

/** Null if there is no readable index. Then nothing is known about the project, not even whether it was empty. */
export function loadIndex(folder: string): Index | null {
  try {
    // Only `saveIndex` writes it, in a folder that belongs to the server.
    const saved = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as {
      version: number
      entries: [string, Known][]
    }
    return saved.version === VERSION ? new Map(saved.entries) : null
  } catch {
    return null
  }
}

/** Replaces the index atomically and durably. */
export function saveIndex(folder: string, index: Index): void {
  const temporary = join(folder, `index-${randomUUID()}`)
  const text = JSON.stringify({ version: VERSION, entries: [...index] })
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true })
    renameSync(temporary, fileOf(folder))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Makes the next snapshot store everything again. */
export const dropIndex = (folder: string): void => rmSync(fileOf(folder), { force: true })
