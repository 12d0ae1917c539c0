// Records every change of a project: writes its journal, changes the project, and stores what changed as a checkpoint.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  CheckpointRepository,
  CheckpointRow,
  NewCheckpoint,
} from '../../db/repositories/projects/checkpoints.ts'
import { type RunAttempt, RunOver } from '../../db/repositories/runs/runs.ts'
import type { CheckpointFile } from '../../db/tables/projects/checkpoints.ts'
import { appError } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import { systemCode } from '../../lib/system-faults.ts'
import type { MessageId, ProjectId, RunId } from '../../protocol/ids.ts'
import { toFileError } from '../files/paths.ts'
import type { MarkRule, OutsideText } from '../outside-text.ts'
import type { StorageQuota } from '../storage-quota.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import { type CaptureTools, capturePaths, changesSince, pendingFiles } from './capture/capture.ts'
import type { ContentStore } from './capture/content-store.ts'
import type { SnapshotInput } from './capture/snapshot.ts'
import { applyTargets, findDifferences } from './undo/restore.ts'
import {
  asNextPart,
  type FolderMove,
  growthOf,
  moveEntries,
  type UndoStep,
} from './undo/undo-steps.ts'

// The journal of the change in progress, stored beside the project, so that the next start can complete it after a crash.

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
interface OpenChange {
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

// The steps of every change: write the journal, change the project, store what changed as a checkpoint.

/** How long scanning a whole project may take. */
export const SNAPSHOT_TIMEOUT_MS = 10 * 60_000

/** What is known of a part before its work runs. */
interface OpenPart extends Pick<OpenChange, 'files' | 'scope' | 'move'> {
  /** Hashes of the captured files; see `CaptureTools`. */
  known?: Map<string, string>
}

/** One unit of work, which runs after everything it may touch is captured. */
interface ChangePart {
  /** Resolves to null if there is nothing to do. */
  begin(): Promise<OpenPart | null>
  work(): Promise<void>
}

/** The result of a change: its files and, if the whole project was scanned, how many entries it has and what they count. */
interface RecordedChange {
  files: CheckpointFile[]
  bytes?: number
  entries?: number
  /** The stored checkpoint; undefined when nothing changed, or when it is stored with the next change. */
  row?: CheckpointRow
}

/** A change that is about to begin. `by`: the attempt at a run that makes it; absent for a person. */
interface NewChange {
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
  /** Throws unless the project is still held and, with `by`, this attempt may still write. */
  access: { assertHeld(projectId: ProjectId, by?: RunAttempt): Promise<void> }
  pool: WorkerPool
  journalOf(workspace: Workspace): ChangeJournal
  snapshotInput(workspace: Workspace): SnapshotInput
  /** Called with the project of every stored checkpoint, and what changed: nothing for one that is kept empty. */
  onChange(workspace: Workspace, files: readonly CheckpointFile[]): void
  log: { warn(details: object, message: string): void }
}

/** The caller has exclusive access to the project, which `access` asserts. */
export function createChangeRecorder(recorder: RecorderState): ChangeRecorder {
  return {
    perform: (workspace, change, parts, options) =>
      perform(recorder, workspace, change, parts, options),

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

// The parts of changes: changing named paths, renaming a folder, and undoing either.

/** The dependencies of a part. */
export interface PartTools extends Omit<CaptureTools, 'contents' | 'known'> {
  contents: ContentStore
}

/** A part whose work returns a result. */
interface ResultPart<T> extends ChangePart {
  /** The result; call it after the work. */
  result(): T
}

/** Turns `work` into a part; `begin` captures what it may touch. */
export function withResult<T>(
  begin: () => Promise<OpenPart>,
  work: () => Promise<T>,
): ResultPart<T> {
  let done: { result: T } | undefined
  return {
    begin,
    async work() {
      done = { result: await work() }
    },
    result() {
      if (done === undefined) throw new Error('The work of this part has not ended.')
      return done.result
    },
  }
}

/** `work` may change only `paths`: files, folders with everything below, or paths that it creates. */
export const pathsPart = <T>(
  tools: PartTools,
  paths: readonly string[],
  work: () => Promise<T>,
): ResultPart<T> => withResult(() => storePaths(tools, paths, new Map()), work)

/** Stores what the paths hold. */
async function storePaths(
  tools: PartTools,
  paths: readonly string[],
  known: Map<string, string>,
): Promise<OpenPart> {
  const before = await capturePaths(paths, { ...tools, known })
  return { files: pendingFiles(before), scope: 'paths', known }
}

/** Renames the folder at `from`. Nothing may exist at `to`. */
export function movePart(tools: PartTools, { from, to }: FolderMove): ChangePart {
  return {
    async begin() {
      const { files, ...open } = await storePaths(tools, [to], new Map())
      // Only the parent folders that the rename may create. The folder is in `move`.
      return { ...open, files: files.filter(({ path }) => path !== to), move: { from, to } }
    },
    work: () => tools.workspace.move(from, to),
  }
}

/**
 * Undoes one step. Entries that other programs have removed since stay removed. @throws AppError `conflict` if something
 * that no checkpoint knows is in the way.
 */
export function undoPart(tools: PartTools, step: UndoStep): ChangePart {
  const { workspace } = tools
  if (step.kind === 'move') {
    const part = movePart(tools, step)
    return {
      async begin() {
        if ((await workspace.state(step.from))?.kind !== 'directory') return null
        if ((await workspace.state(step.to)) !== null)
          throw appError('old_name_taken', { path: step.from, old: step.to })
        return part.begin()
      },
      work: part.work,
    }
  }
  let different: Awaited<ReturnType<typeof findDifferences>> = new Map()
  return {
    async begin() {
      const known = new Map<string, string>()
      different = await findDifferences(step.targets, { ...tools, known })
      return different.size === 0 ? null : storePaths(tools, [...different.keys()], known)
    },
    work: () => applyTargets(tools, different, tools.contents),
  }
}
