// The journal of the change in progress, stored beside the project, so that the next start can complete it after a crash.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NewCheckpoint } from '../../../db/repositories/projects/checkpoints.ts'
import type { CheckpointFile } from '../../../db/tables/projects/checkpoints.ts'
import { systemCode } from '../../../lib/system-faults.ts'
import type { MessageId, RunId } from '../../../protocol/ids.ts'
import { toFileError } from '../../files/faults.ts'
import type { MarkRule } from '../../outside-text.ts'
import type { FolderMove } from './parts.ts'

/** The tool that makes a change, and the answer that it belongs to. */
export interface ChangeOrigin {
  /** The tool's name, or `editor`, `upload`, `restore` for changes by a person. */
  tool: string
  messageId: MessageId | null
  runId: RunId | null
  /** The attempt at the run. Once it may no longer write, it changes nothing and stores no checkpoint. */
  attempt?: number
  /** Whether the written content may include text from outside, because its author may have read some. */
  outside?: boolean
}

/** A checkpoint whose change is in progress. */
export interface OpenChange {
  row: NewCheckpoint
  /** What is known in advance: what the named paths contained; empty for a whole project. */
  files: CheckpointFile[]
  /** Whether only the named paths or the whole project may change. */
  scope: 'paths' | 'all'
  /** Which contents count as text from outside afterwards; absent in journals of older versions. */
  marks?: MarkRule
  /** The folder that is being renamed; `files` then lists parent folders that may be created for it. */
  move?: FolderMove
  /** What earlier parts of the same change did. */
  done?: CheckpointFile[]
}

/** Records a change on disk before it begins. After a crash, the change is completed from this journal. */
export interface ChangeJournal {
  /**
   * Writes the journal before the change begins; at most one change of a project is open at a time. @throws AppError if it
   * cannot be written, for example `store_full`.
   */
  open(change: OpenChange): Promise<void>
  /** The open change, if any. */
  read(): Promise<OpenChange | null>
  close(): Promise<void>
}

/**
 * `folder`: the server's folder for the project, created when it is first needed. `staging`: a folder on the same file
 * system for incomplete journals.
 */
export function createChangeJournal(folder: string, staging: string): ChangeJournal {
  const file = join(folder, 'open-change.json')
  return {
    async open(change) {
      const temporary = join(staging, randomUUID())
      try {
        // Durable before the change begins, so that a power cut cannot lose it.
        const options = { mode: 0o600, flag: 'wx', flush: true }
        await writeFile(temporary, JSON.stringify(change), options)
        await rename(temporary, file).catch(async (error: unknown) => {
          if (systemCode(error) !== 'ENOENT') throw error
          await mkdir(folder, { recursive: true, mode: 0o700 })
          await rename(temporary, file)
        })
      } catch (error) {
        await rm(temporary, { force: true })
        throw toFileError(error, '')
      }
    },
    async read() {
      let text: string
      try {
        text = await readFile(file, 'utf8')
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return null
        throw error
      }
      const change = parse(text)
      if (change === null) return null
      return { ...change, row: { ...change.row, createdAt: new Date(change.row.createdAt) } }
    },
    close: () => rm(file, { force: true }),
  }
}

/** Only `open` writes journals, in a folder that belongs to the server. A journal that a broken disk truncated is ignored. */
function parse(text: string): OpenChange | null {
  try {
    return JSON.parse(text) as OpenChange
  } catch {
    return null
  }
}
