// The common course of every change: a note before it, the change itself, what came of it stored as a checkpoint.
import type {
  CheckpointRepository,
  CheckpointRow,
  NewCheckpoint,
} from '../../db/repositories/checkpoints.ts'
import type { CheckpointFile } from '../../db/tables/projects.ts'
import { newId } from '../../lib/ids.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { MarkRule, OutsideText } from '../outside-text.ts'
import type { StorageQuota } from '../storage-quota.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import { changesSince } from './capture.ts'
import type { ChangeJournal, ChangeOrigin, OpenChange } from './change-journal.ts'
import { asNextPart, type FolderMove, moveEntries } from './parts.ts'
import type { ProjectTurns } from './project-turns.ts'
import type { SnapshotInput } from './snapshot.ts'
import { growthOf } from './undo-steps.ts'

/** How long a look at a whole project may take. */
export const SNAPSHOT_MS = 10 * 60_000

/** What is known of a part before it is made. */
export interface OpenPart extends Pick<OpenChange, 'files' | 'scope' | 'move'> {
  /** Hashes of the files that were looked at; see `CaptureTools`. */
  known?: Map<string, string>
}

/** Something that is done in one go, after what it may touch is known. */
export interface ChangePart {
  /** Null when there is nothing to do. */
  begin(): Promise<OpenPart | null>
  work(): Promise<void>
}

/** What came of a change: its files and, where the whole project was looked at, the bytes of all files. */
export interface Settled {
  files: CheckpointFile[]
  bytes?: number
  /** As it was stored; undefined when nothing changed, or when it is stored with the next change. */
  row?: CheckpointRow
}

export interface ChangeRecorder {
  /**
   * Makes the parts of a change one after another. When one fails, the change ends there and what was done is stored; so
   * it is when the process dies, with the next change. `keepEmpty`: a checkpoint stays even when nothing changed.
   */
  perform(
    workspace: Workspace,
    change: { row: NewCheckpoint; marks: MarkRule },
    parts: Iterable<ChangePart>,
    options?: { keepEmpty?: boolean },
  ): Promise<Settled>
  /** Settles what a dead server left open. */
  settleOpen(workspace: Workspace): Promise<void>
}

export const newCheckpoint = (workspace: Workspace, origin: ChangeOrigin): NewCheckpoint => ({
  id: newId(),
  projectId: workspace.projectId,
  userId: workspace.userId,
  messageId: origin.messageId,
  runId: origin.runId,
  tool: origin.tool,
  createdAt: new Date(),
})

export function createChangeRecorder(dependencies: {
  records: CheckpointRepository
  outsideText: OutsideText
  storage: StorageQuota
  turns: Pick<ProjectTurns, 'assertStays'>
  pool: WorkerPool
  journalOf(workspace: Workspace): ChangeJournal
  snapshotInput(workspace: Workspace): SnapshotInput
  /** Hears of every project in which something was changed. */
  onChange(projectId: ProjectId): void
  log: { warn(details: object, message: string): void }
}): ChangeRecorder {
  const { records, outsideText, storage, turns, pool, journalOf, snapshotInput, log } = dependencies

  /** What has been done since the note was written, after what was done before it. */
  const lookAgain = async (
    workspace: Workspace,
    { files: noted, scope, move, done = [] }: OpenChange,
    known = new Map<string, string>(),
  ): Promise<Settled> => {
    if (scope === 'all')
      return pool.run('compare_snapshot', snapshotInput(workspace), { timeoutMs: SNAPSHOT_MS })
    const before = new Map(noted.map(({ path, before: held }) => [path, held]))
    // A folder that came as a whole, by a rename, is told as such, not by what is in it.
    const below = move === undefined
    const files = asNextPart(done, await changesSince(before, { workspace, pool, known }, below))
    if (move === undefined || !(await hasMoved(workspace, move))) return { files }
    return { files: asNextPart(files, moveEntries(move)) }
  }

  /** Looks at what has become of the project and stores it. */
  const settle = async (
    workspace: Workspace,
    change: OpenChange,
    { keepEmpty = false, known = new Map<string, string>() } = {},
  ): Promise<Settled> => {
    const { row, scope, marks = 'edited' } = change
    const settled = await lookAgain(workspace, change, known)
    const { files, bytes } = settled
    await outsideText.mark(workspace.projectId, files, marks)
    if (files.length > 0 || keepEmpty)
      settled.row = await records.insert(
        row,
        files,
        bytes === undefined ? { grown: growthOf(files) } : { bytes },
      )
    await journalOf(workspace).close()
    storage.release(workspace.projectId)
    if (scope === 'all') workspace.forgetSize()
    if (files.length > 0) dependencies.onChange(workspace.projectId)
    return settled
  }

  const staysOpen = (fault: unknown): Settled => {
    // Whatever the work did is done and must be told as it is; the next change settles the note first.
    log.warn({ err: fault }, 'A checkpoint stays open until the next change')
    return { files: [] }
  }

  return {
    async perform(workspace, head, parts, { keepEmpty = false } = {}) {
      let open: { change: OpenChange; known: Map<string, string> } = {
        change: { ...head, files: [], scope: 'paths' },
        known: new Map(),
      }
      let begun = false
      try {
        for (const part of parts) {
          const next = await part.begin()
          if (next === null) continue
          const { known = new Map(), ...note } = next
          const done = begun ? (await lookAgain(workspace, open.change, open.known)).files : []
          open = { change: { ...head, ...note, done }, known }
          await journalOf(workspace).open(open.change)
          begun = true
          await part.work()
          turns.assertStays(workspace.projectId)
        }
      } catch (error) {
        // The note stays: should the deletion fail, the next change settles it.
        turns.assertStays(workspace.projectId)
        if (begun) await settle(workspace, open.change, { known: open.known }).catch(staysOpen)
        throw error
      }
      return settle(workspace, open.change, { keepEmpty, known: open.known }).catch(staysOpen)
    },

    async settleOpen(workspace) {
      const open = await journalOf(workspace).read()
      if (open !== null) await settle(workspace, open)
    },
  }
}

/** Asked after a change that nobody else could disturb: at its beginning a folder was at `from`, and nothing at `to`. */
async function hasMoved(workspace: Workspace, { from, to }: FolderMove): Promise<boolean> {
  const [before, after] = [await workspace.state(from), await workspace.state(to)]
  return before === null && after?.kind === 'directory'
}
