// The steps of every change: write the journal, change the project, store what changed as a checkpoint.
import type {
  CheckpointRepository,
  CheckpointRow,
  NewCheckpoint,
} from '../../../db/repositories/projects/checkpoints.ts'
import { type RunAttempt, RunOver } from '../../../db/run-attempt.ts'
import type { CheckpointFile } from '../../../db/tables/projects/checkpoints.ts'
import { newId } from '../../../lib/ids.ts'
import type { MarkRule, OutsideText } from '../../outside-text.ts'
import type { StorageQuota } from '../../storage-quota.ts'
import type { WorkerPool } from '../../worker/worker-pool.ts'
import type { Workspace } from '../../workspace.ts'
import { changesSince } from '../capture/capture.ts'
import type { SnapshotInput } from '../capture/snapshot.ts'
import type { ProjectAccess } from '../project-access.ts'
import { growthOf } from '../undo/undo-steps.ts'
import type { ChangeJournal, ChangeOrigin, OpenChange } from './change-journal.ts'
import { asNextPart, type FolderMove, moveEntries } from './parts.ts'

/** How long scanning a whole project may take. */
export const SNAPSHOT_TIMEOUT_MS = 10 * 60_000

/** What is known of a part before its work runs. */
export interface OpenPart extends Pick<OpenChange, 'files' | 'scope' | 'move'> {
  /** Hashes of the captured files; see `CaptureTools`. */
  known?: Map<string, string>
}

/** One unit of work, which runs after everything it may touch is captured. */
export interface ChangePart {
  /** Resolves to null if there is nothing to do. */
  begin(): Promise<OpenPart | null>
  work(): Promise<void>
}

/** The result of a change: its files and, if the whole project was scanned, how many entries it has and what they count. */
export interface RecordedChange {
  files: CheckpointFile[]
  bytes?: number
  entries?: number
  /** The stored checkpoint; undefined when nothing changed, or when it is stored with the next change. */
  row?: CheckpointRow
}

/** A change that is about to begin. `by`: the attempt at a run that makes it; absent for a person. */
export interface NewChange {
  row: NewCheckpoint
  marks: MarkRule
  by?: RunAttempt | undefined
}

/** Performs a change of a project part by part, each recorded before it happens. */
export interface ChangeRecorder {
  /**
   * Runs the parts of a change one after another. If one fails, the change ends there and what was done is stored; if the
   * process dies, the next change stores it. `keepEmpty`: stores a checkpoint even when nothing changed. Throws
   * `request_stopped` if the attempt that makes the change may no longer begin it. An attempt that loses this right during
   * the change stores no checkpoint; the next change of the project does.
   */
  perform(
    workspace: Workspace,
    change: NewChange,
    parts: Iterable<ChangePart>,
    options?: { keepEmpty?: boolean },
  ): Promise<RecordedChange>
  /** Completes a change that a process left open when it died. */
  recover(workspace: Workspace): Promise<void>
}

/** The checkpoint of a change that begins now. */
export const newCheckpoint = (workspace: Workspace, origin: ChangeOrigin): NewCheckpoint => ({
  id: newId(),
  projectId: workspace.projectId,
  userId: workspace.userId,
  actorId: workspace.actorId,
  messageId: origin.messageId,
  runId: origin.runId,
  tool: origin.tool,
  createdAt: new Date(),
})

/** `readsOutside`: what the change writes may contain text from outside. */
export const newChange = (
  workspace: Workspace,
  origin: ChangeOrigin,
  readsOutside = false,
): NewChange => ({
  row: newCheckpoint(workspace, origin),
  marks: origin.outside || readsOutside ? 'written' : 'edited',
  by: attemptOf(origin),
})

/** The attempt at a run that makes a change. */
export const attemptOf = ({ runId, attempt }: ChangeOrigin): RunAttempt | undefined =>
  runId === null || attempt === undefined ? undefined : { id: runId, attempt }

/** What recording a change depends on. */
interface RecorderState {
  records: CheckpointRepository
  outsideText: OutsideText
  storage: StorageQuota
  access: Pick<ProjectAccess, 'assertHeld'>
  pool: WorkerPool
  journalOf(workspace: Workspace): ChangeJournal
  snapshotInput(workspace: Workspace): SnapshotInput
  /** Called with the project of every stored checkpoint, and what changed: nothing for one that is kept empty. */
  onChange(workspace: Workspace, files: readonly CheckpointFile[]): void
  log: { warn(details: object, message: string): void }
}

/** The caller has exclusive access to the project, which `access` asserts. */
export function createChangeRecorder(dependencies: {
  records: CheckpointRepository
  outsideText: OutsideText
  storage: StorageQuota
  access: Pick<ProjectAccess, 'assertHeld'>
  pool: WorkerPool
  journalOf(workspace: Workspace): ChangeJournal
  snapshotInput(workspace: Workspace): SnapshotInput
  /** Called with the project of every stored checkpoint, and what changed: nothing for one that is kept empty. */
  onChange(workspace: Workspace, files: readonly CheckpointFile[]): void
  log: { warn(details: object, message: string): void }
}): ChangeRecorder {
  const recorder: RecorderState = {
    ...dependencies,
  }
  return {
    perform: (workspace, details, parts, arg3) =>
      perform(recorder, workspace, details, parts, arg3),

    async recover(workspace) {
      const open = await recorder.journalOf(workspace).read()
      if (open !== null) await complete(recorder, workspace, open)
    },
  }
}

/** What earlier parts did, followed by what changed since the journal was written. */
async function findChanges(
  recorder: RecorderState,
  workspace: Workspace,
  { files: captured, scope, move, done = [] }: OpenChange,
  known: Map<string, string> = new Map<string, string>(),
): Promise<RecordedChange> {
  if (scope === 'all')
    return recorder.pool.run('compare_snapshot', recorder.snapshotInput(workspace), {
      timeoutMs: SNAPSHOT_TIMEOUT_MS,
      owner: workspace.userId,
    })
  const before = new Map(captured.map(({ path, before: content }) => [path, content]))
  // A renamed folder is recorded as a rename, not by its contents.
  const below = move === undefined
  const files = asNextPart(
    done,
    await changesSince(before, { workspace, pool: recorder.pool, known }, below),
  )
  if (move === undefined || !(await hasMoved(workspace, move))) return { files }
  return { files: asNextPart(files, moveEntries(move)) }
}

/** Finds what changed, stores it and closes the journal. */
async function complete(
  recorder: RecorderState,
  workspace: Workspace,
  change: OpenChange,
  {
    keepEmpty = false,
    known = new Map<string, string>(),
    by,
  }: { keepEmpty?: boolean; known?: Map<string, string>; by?: RunAttempt | undefined } = {},
): Promise<RecordedChange> {
  const { row, scope, marks = 'edited' } = change
  const recorded = await findChanges(recorder, workspace, change, known)
  await recorder.access.assertHeld(workspace.projectId)
  const { files, bytes } = recorded
  await recorder.outsideText.mark(workspace.projectId, files, marks)
  if (files.length > 0 || keepEmpty)
    recorded.row = await recorder.records.insert(
      row,
      files,
      bytes === undefined ? { grown: growthOf(files) } : { bytes },
      by,
    )
  await recorder.journalOf(workspace).close()
  recorder.storage.release(workspace.projectId)
  if (scope === 'all') workspace.forgetSize()
  if (recorded.row !== undefined) recorder.onChange(workspace, files)
  return recorded
}

function leaveOpen(recorder: RecorderState, error: unknown): RecordedChange {
  // The work has happened, so its result must be returned; the next change completes the journal first.
  const reason = error instanceof RunOver ? { reason: error.message } : { err: error }
  recorder.log.warn(reason, 'a checkpoint could not be completed; the next change completes it')
  return { files: [] }
}

async function perform(
  recorder: RecorderState,
  workspace: Workspace,
  { by, ...head }: NewChange,
  parts: Iterable<ChangePart>,
  { keepEmpty = false }: { keepEmpty?: boolean } | undefined = {},
): Promise<RecordedChange> {
  let open: { change: OpenChange; known: Map<string, string> } = {
    change: { ...head, files: [], scope: 'paths' },
    known: new Map(),
  }
  let begun = false
  try {
    for (const part of parts) {
      const next = await part.begin()
      if (next === null) continue
      const { known = new Map(), ...entry } = next
      const done = begun
        ? (await findChanges(recorder, workspace, open.change, open.known)).files
        : []
      open = { change: { ...head, ...entry, done }, known }
      await recorder.access.assertHeld(workspace.projectId, by)
      await recorder.journalOf(workspace).open(open.change)
      begun = true
      await part.work()
      await recorder.access.assertHeld(workspace.projectId)
    }
  } catch (error) {
    // The journal stays open: if the deletion fails, the next change completes it.
    await recorder.access.assertHeld(workspace.projectId)
    if (begun)
      await complete(recorder, workspace, open.change, { known: open.known, by }).catch((error) =>
        leaveOpen(recorder, error),
      )
    throw error
  }
  return complete(recorder, workspace, open.change, { keepEmpty, known: open.known, by }).catch(
    (error) => leaveOpen(recorder, error),
  )
}

/** Called with exclusive access since the start of the change, when a folder was at `from` and nothing at `to`. */
async function hasMoved(workspace: Workspace, { from, to }: FolderMove): Promise<boolean> {
  const [before, after] = [await workspace.state(from), await workspace.state(to)]
  return before === null && after?.kind === 'directory'
}
