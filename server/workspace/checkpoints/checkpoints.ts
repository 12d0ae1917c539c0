// Every change of a project goes through here: one at a time, with a checkpoint of what it touches made first.
import { join } from 'node:path'
import type {
  CheckpointRepository,
  CheckpointRow,
  NewCheckpoint,
} from '../../db/repositories/checkpoints.ts'
import type { OutsideContentRepository } from '../../db/repositories/outside-contents.ts'
import type { CheckpointFile, PathContent } from '../../db/tables/projects.ts'
import { AppError, projectDeleted } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import type { MessageId, ProjectId, RunId } from '../../protocol/ids.ts'
import { sizeText } from '../files/faults.ts'
import { createOutsideText, type MarkRule, type OutsideText } from '../outside-text.ts'
import type { Lanes } from '../project-lock.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { Workspaces } from '../workspaces.ts'
import { asOpenFiles, type Captured, capturePaths, changesSince } from './capture.ts'
import { type ChangeJournal, createChangeJournal, type OpenChange } from './change-journal.ts'
import { createKeptContent, type KeptContent } from './content-store.ts'
import { type PruneRule, prunable } from './prune.ts'
import { applyTargets, checkKept, differing, filesOf, targetsBefore } from './restore.ts'

/** By what and for which answer a change is made. */
export interface ChangeOrigin {
  /** The tool's name, or `editor`, `upload`, `restore` for what a person does. */
  tool: string
  messageId: MessageId | null
  runId: RunId | null
  /** Whoever changes it may have read text from outside: what is written holds some, too. */
  outside?: boolean
}

export interface Restored {
  /** Number of files that were brought back; of folders where nothing else was. */
  restored: number
  /** The new checkpoint, which undoes the restoring. */
  checkpoint: CheckpointRow
}

/** What a program is told that may change anything in the project. */
export interface Surroundings {
  /** Bytes of all files before it, and bytes that they may take after it. */
  usedBefore: number
  most: number
  /** Whether some files hold text from outside: then all that it writes may. */
  readsOutside: boolean
  /** Aborts when the program is to end. */
  signal: AbortSignal
}

export interface Checkpoints {
  /**
   * Runs `work` alone in the project, after keeping what `paths` (files, folders with all below, or what is about to be
   * made) hold. No checkpoint stays when nothing changed in the end. `work` must change nothing but these paths, and must
   * not call back into this room's changes. Throws what `work` throws, and `store_busy` when its turn does not come.
   */
  change<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    paths: readonly string[],
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * The same for a program that may change anything in the project: the whole of it is kept, at the price of a scan.
   * When the project has grown beyond its limit in the end, or its user's projects beyond the quota, what changed is taken
   * back and `project_full` or `quota_exceeded` thrown.
   */
  changeAnything<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    work: (surroundings: Surroundings) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * Deletes a project: work in it is aborted (the signal of `changeAnything`), work that waits or comes later is refused
   * with `project_deleted`; then `stop` and, alone in the project, `remove` run. When one of them fails the project stays.
   */
  removeProject(
    projectId: ProjectId,
    steps: { stop(): Promise<void>; remove(): Promise<void> },
  ): Promise<void>
  /**
   * Brings all that changed at or after this checkpoint back to what it was before it. Without an id nothing has changed,
   * and nothing is brought back. Throws `not_found`, and `conflict` when an earlier content is no longer kept.
   */
  restore(workspace: Workspace, id: string | undefined, origin: ChangeOrigin): Promise<Restored>
  /** Settles what a dead server left open, so that the list is whole. */
  settle(workspace: Workspace): Promise<void>
  /** `listener` hears of every project in which something was changed through this room. It must not throw. */
  onChange(listener: (projectId: ProjectId) => void): void
  /** Which files hold text from outside. */
  outsideText: OutsideText
  /** What files held, for comparing. */
  keptContent(projectId: ProjectId): KeptContent
}

/** What came of a change: its files and, where the whole project was looked at, the bytes of all files. */
interface Settled {
  files: CheckpointFile[]
  bytes?: number
  /** As it was stored; undefined when nothing changed, or when it is stored with the next change. */
  row?: CheckpointRow
}

/** Bytes by which a change of these files makes the project larger; negative when it becomes smaller. */
const growthOf = (files: readonly CheckpointFile[]): number =>
  files.reduce((sum, { before, after }) => sum + bytesOf(after) - bytesOf(before), 0)
const bytesOf = (content: PathContent | null): number =>
  content?.kind === 'file' ? content.size : 0

const SNAPSHOT_MS = 10 * 60_000
/** Every so many checkpoints of a project old ones are looked for. */
const PRUNE_EVERY = 20

export function createCheckpoints(options: {
  records: CheckpointRepository
  outsideContents: OutsideContentRepository
  workspaces: Workspaces
  lanes: Lanes
  pool: WorkerPool
  rule: PruneRule
  log: { warn(details: object, message: string): void }
}): Checkpoints {
  const { records, workspaces, lanes, pool, rule, log } = options
  const { storage } = workspaces
  const sinceLastPrune = new Map<ProjectId, number>()
  const listeners: ((projectId: ProjectId) => void)[] = []

  /** Projects that are being deleted, and how to end what runs in a project. */
  const leaving = new Set<ProjectId>()
  const running = new Map<ProjectId, AbortController>()
  const alone = <T>(
    { projectId }: Pick<Workspace, 'projectId'>,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    lanes.run(
      projectId,
      async () => {
        if (leaving.has(projectId)) throw projectDeleted()
        await records.assertProject(projectId)
        const controller = new AbortController()
        running.set(projectId, controller)
        // Asked again: a deletion that began during the question found nothing to abort.
        if (leaving.has(projectId)) controller.abort(projectDeleted())
        try {
          return await work(
            signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
          )
        } finally {
          running.delete(projectId)
        }
      },
      signal === undefined ? {} : { signal },
    )

  const contentsOf = (projectId: ProjectId): string =>
    join(workspaces.sideFolder(projectId), 'contents')
  const keptContent = (projectId: ProjectId): KeptContent =>
    createKeptContent(contentsOf(projectId), workspaces.staging)
  const snapshotInput = (workspace: Workspace) => ({
    root: workspace.root,
    folder: workspaces.sideFolder(workspace.projectId),
    contents: contentsOf(workspace.projectId),
  })

  const journalOf = (workspace: Workspace): ChangeJournal =>
    createChangeJournal(workspaces.sideFolder(workspace.projectId), workspaces.staging)
  const outsideText = createOutsideText(
    options.outsideContents,
    async (workspace) => (await journalOf(workspace).read())?.marks === 'written',
  )

  const newRow = (workspace: Workspace, origin: ChangeOrigin): NewCheckpoint => ({
    id: newId(),
    projectId: workspace.projectId,
    userId: workspace.userId,
    messageId: origin.messageId,
    runId: origin.runId,
    tool: origin.tool,
    createdAt: new Date(),
  })

  const noteOf = (
    workspace: Workspace,
    origin: ChangeOrigin,
    before: Captured,
    marks: MarkRule,
  ): OpenChange => ({
    row: newRow(workspace, origin),
    files: asOpenFiles(before),
    scope: 'paths',
    marks,
  })

  /** Looks at what has become of the project and writes it down. */
  const settleChange = async (
    workspace: Workspace,
    { row, files: noted, scope, marks = 'edited' }: OpenChange,
    keepEmpty = false,
    known = new Map<string, string>(),
  ): Promise<Settled> => {
    const settled: Settled =
      scope === 'all'
        ? await pool.run('compare_snapshot', snapshotInput(workspace), { timeoutMs: SNAPSHOT_MS })
        : {
            files: await changesSince(new Map(noted.map(({ path, before }) => [path, before])), {
              workspace,
              pool,
              known,
            }),
          }
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
    if (files.length > 0) for (const listener of listeners) listener(workspace.projectId)
    return settled
  }
  const settleOpen = async (workspace: Workspace): Promise<void> => {
    const open = await journalOf(workspace).read()
    if (open !== null) await settleChange(workspace, open)
  }

  /** The common course: note, work, what came of it. The note is there before the work begins. */
  const performed = async <T>(
    workspace: Workspace,
    change: OpenChange,
    work: () => Promise<T>,
    { keepEmpty = false, known = new Map<string, string>() } = {},
  ): Promise<Settled & { result: T }> => {
    await journalOf(workspace).open(change)
    const staysOpen = (fault: unknown): Settled => {
      // Whatever the work did is done and must be told as it is; the next change settles the note first.
      log.warn({ err: fault }, 'A checkpoint stays open until the next change')
      return { files: [] }
    }
    let result: T
    try {
      result = await work()
      if (leaving.has(workspace.projectId)) throw projectDeleted()
    } catch (error) {
      // The note stays: should the deletion fail, the next change settles it.
      if (leaving.has(workspace.projectId)) throw projectDeleted()
      await settleChange(workspace, change, false, known).catch(staysOpen)
      throw error
    }
    const settled = await settleChange(workspace, change, keepEmpty, known).catch(staysOpen)
    pruneSometimes(workspace)
    return { ...settled, result }
  }

  /** Undoes a change of which nothing is to stay. */
  const takeBack = async (
    workspace: Workspace,
    row: NewCheckpoint,
    bytesBefore: number,
  ): Promise<void> => {
    const targets = await targetsBefore(records.pages(row.id))
    const different = await differing(targets, { workspace, pool, known: new Map() })
    await applyTargets({ workspace, pool }, different, keptContent(workspace.projectId))
    await records.takeBack(workspace.projectId, row.id, bytesBefore)
    workspace.forgetSize()
  }

  /** In a turn of its own, so that nobody waits for it but the next change. */
  const pruneSometimes = (workspace: Workspace): void => {
    const { projectId } = workspace
    const count = (sinceLastPrune.get(projectId) ?? 0) + 1
    sinceLastPrune.set(projectId, count % PRUNE_EVERY)
    if (count < PRUNE_EVERY) return
    alone(workspace, async () => {
      await records.remove(prunable(await records.ages(projectId), rule, new Date()))
      await dropUnneeded(workspace)
    }).catch((fault: unknown) => log.warn({ err: fault }, 'Old checkpoints could not be removed'))
  }

  /** Removes contents that no checkpoint names; while there are too many bytes, the oldest checkpoints too. */
  const dropUnneeded = async (workspace: Workspace): Promise<void> => {
    for (;;) {
      const rows = await records.since(workspace.projectId, '')
      const needed = new Set<string>()
      for await (const files of filesOf(records, rows))
        for (const { before } of files) if (before?.kind === 'file') needed.add(before.hash)
      const { bytes } = await pool.run(
        'collect_contents',
        { ...snapshotInput(workspace), needed, maxBytes: rule.maxBytes },
        { timeoutMs: SNAPSHOT_MS },
      )
      if (bytes <= rule.maxBytes || rows.length <= 1) return
      await records.remove(rows.slice(0, Math.ceil(rows.length / 4)).map(({ id }) => id))
    }
  }

  return {
    keptContent,
    outsideText,
    onChange: (listener) => {
      listeners.push(listener)
    },
    change: (workspace, origin, paths, work, signal) =>
      alone(
        workspace,
        async () => {
          await settleOpen(workspace)
          const known = new Map<string, string>()
          const kept = keptContent(workspace.projectId)
          const before = await capturePaths(paths, { workspace, pool, kept, known, signal })
          const marks = origin.outside ? 'written' : 'edited'
          const change = noteOf(workspace, origin, before, marks)
          return (await performed(workspace, change, work, { known })).result
        },
        signal,
      ),

    changeAnything: (workspace, origin, work, outer) =>
      alone(
        workspace,
        async (signal) => {
          await settleOpen(workspace)
          // Makes the folder, should it be missing.
          await workspace.state('')
          const before = await pool.run('take_snapshot', snapshotInput(workspace), {
            timeoutMs: SNAPSHOT_MS,
            signal,
          })
          const usedBefore = before.bytes
          const most = Math.min(
            workspace.limits.project,
            usedBefore + (await storage.left(workspace.userId)),
          )
          const row = newRow(workspace, origin)
          const readsOutside = await outsideText.isInProject(workspace.projectId)
          const marks = origin.outside || readsOutside ? 'written' : 'edited'
          const change: OpenChange = { row, files: [], scope: 'all', marks }
          const after = await performed(workspace, change, () =>
            work({ usedBefore, most, readsOutside, signal }),
          )
          const { bytes = 0, result } = after
          if (bytes <= usedBefore) return result
          const undo = () => takeBack(workspace, row, usedBefore)
          if (bytes <= workspace.limits.project) {
            await storage.undoIfOver(workspace.userId, undo)
            return result
          }
          await undo()
          throw new AppError(
            'project_full',
            `The project would have ${sizeText(bytes)}; at most ${sizeText(workspace.limits.project)} are allowed. What was changed is taken back.`,
          )
        },
        outer,
      ),

    restore: (workspace, id, origin) =>
      alone(workspace, async () => {
        await settleOpen(workspace)
        const rows = id === undefined ? [] : await records.since(workspace.projectId, id)
        if (rows[0]?.id !== id) throw new AppError('not_found', 'There is no such checkpoint.')
        const kept = keptContent(workspace.projectId)
        const tools = { workspace, pool, kept, known: new Map<string, string>() }
        const different = await differing(await targetsBefore(filesOf(records, rows)), tools)
        const targets = new Map([...different].map(([path, { target }]) => [path, target]))
        await checkKept(targets, kept)
        const before = await capturePaths([...targets.keys()], tools)
        let grows = 0
        for (const { now, target } of different.values()) grows += bytesOf(target) - bytesOf(now)
        if (grows > 0) await storage.claim(workspace.userId, workspace.projectId, grows)
        const { row } = await performed(
          workspace,
          noteOf(workspace, origin, before, 'nothing'),
          () => applyTargets(tools, different, kept),
          { keepEmpty: true, known: tools.known },
        )
        // It is stored with the next change; what was restored is known to be many or few only then.
        if (row === undefined)
          throw new AppError(
            'store_busy',
            'The files were brought back, but the checkpoint of it could not be stored yet.',
          )
        return { restored: row.fileCount, checkpoint: row }
      }),

    settle: (workspace) => alone(workspace, () => settleOpen(workspace)),

    async removeProject(projectId, { stop, remove }) {
      leaving.add(projectId)
      running.get(projectId)?.abort(projectDeleted())
      try {
        await stop()
        await lanes.run(projectId, remove)
      } finally {
        leaving.delete(projectId)
        storage.release(projectId)
      }
    },
  }
}
