// What a whole project was found to hold, by path: the memory of one snapshot for the next. Runs in the worker thread only.
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PathContent } from '../../db/tables/projects.ts'

interface Known {
  content: PathContent
  /** Size, times and inode for which `content` was found; '' means: look again. */
  stat: string
  /** Its content is kept. */
  kept: boolean
}
export type Index = Map<string, Known>

const VERSION = 1
const fileOf = (folder: string): string => join(folder, 'index.json')

/** Null when there is none, or none that can be read: then nothing is known, which is not the same as nothing being there. */
export function loadIndex(folder: string): Index | null {
  try {
    // Written by `saveIndex` alone, in a folder that is the server's own.
    const saved = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as {
      version: number
      entries: [string, Known][]
    }
    return saved.version === VERSION ? new Map(saved.entries) : null
  } catch {
    return null
  }
}

/** On the disk, whole, before it takes the place of the one before. */
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

/** The next snapshot keeps everything anew. */
export const dropIndex = (folder: string): void => rmSync(fileOf(folder), { force: true })
