// The note of a change that is under way, beside the project: what a server that dies in the middle of it leaves behind.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NewCheckpoint } from '../../db/repositories/checkpoints.ts'
import type { CheckpointFile } from '../../db/tables/projects.ts'
import type { MessageId, RunId } from '../../protocol/ids.ts'
import { explainFault, systemCode } from '../files/faults.ts'
import type { MarkRule } from '../outside-text.ts'
import type { FolderMove } from './parts.ts'

/** By what and for which answer a change is made. */
export interface ChangeOrigin {
  /** The tool's name, or `editor`, `upload`, `restore` for what a person does. */
  tool: string
  messageId: MessageId | null
  runId: RunId | null
  /** Whoever changes it may have read text from outside: what is written holds some, too. */
  outside?: boolean
}

/** A checkpoint whose change has begun. */
export interface OpenChange {
  row: NewCheckpoint
  /** What is known beforehand: for named paths what they held, for a whole project nothing. */
  files: CheckpointFile[]
  /** Whether named paths or the whole project may change. */
  scope: 'paths' | 'all'
  /** Which contents hold text from outside afterwards; absent in the note of an older program. */
  marks?: MarkRule
  /** A folder that is being renamed; the paths of `files` are then folders that may be made for it. */
  move?: FolderMove
  /** What earlier parts of the same change have done. */
  done?: CheckpointFile[]
}

export interface ChangeJournal {
  /**
   * Written before the change begins; at most one change of a project is open at a time. Throws `AppError` where it
   * cannot be written, `store_full` among them.
   */
  open(change: OpenChange): Promise<void>
  /** The change that is open, if any. */
  read(): Promise<OpenChange | null>
  close(): Promise<void>
}

/**
 * `folder`: the project's side folder, made when it is first needed. `staging`: on the same file system, for a note that
 * is not whole yet.
 */
export function createChangeJournal(folder: string, staging: string): ChangeJournal {
  const file = join(folder, 'open-change.json')
  return {
    async open(change) {
      const temporary = join(staging, randomUUID())
      try {
        // On the disk before the change begins: after a power cut, too, what was under way is known.
        const options = { mode: 0o600, flag: 'wx', flush: true }
        await writeFile(temporary, JSON.stringify(change), options)
        await rename(temporary, file).catch(async (error: unknown) => {
          if (systemCode(error) !== 'ENOENT') throw error
          await mkdir(folder, { recursive: true, mode: 0o700 })
          await rename(temporary, file)
        })
      } catch (error) {
        await rm(temporary, { force: true })
        throw explainFault(error, '')
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

/** Written by `open` alone, in a folder that is the server's own. A note that a broken disk cut off says nothing. */
function parse(text: string): OpenChange | null {
  try {
    return JSON.parse(text) as OpenChange
  } catch {
    return null
  }
}
