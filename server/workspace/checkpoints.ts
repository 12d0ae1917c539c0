// Every change of a project goes through here: one at a time, with a checkpoint of what it touches made first.
import { join } from 'node:path'
import type { CheckpointRepository, CheckpointRow } from '../db/repositories/checkpoints.ts'
import type { CheckpointFile } from '../db/tables/projects.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { MessageId, ProjectId, RunId } from '../protocol/ids.ts'
import { asOpenFiles, capturePaths, changesSince, toldFiles } from './capture.ts'
import { type ChangeJournal, createChangeJournal, type OpenChange } from './change-journal.ts'
import { sizeText } from './faults.ts'
import { createKeptContent, type KeptContent } from './kept-content.ts'
import type { Lanes } from './lanes.ts'
import { type PruneRule, prunable } from './prune.ts'
import { applyTargets, checkKept, differing, targetsBefore } from './restore.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { Workspace } from './workspace.ts'
import type { Workspaces } from './workspaces.ts'

/** By what and for which answer a change is made. */
export interface ChangeOrigin {
  /** The tool's name, or `editor`, `upload`, `restore` for what a person does. */
  tool: string
  messageId: MessageId | null
  runId: RunId | null
}

export interface Restored {
  /** Number of files that were brought back; of folders where nothing else was. */
  restored: number
  /** The new checkpoint, which undoes the restoring. */
  checkpoint: CheckpointRow
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
   * `work` is told the bytes of all files. When the project has grown beyond its limit in the end, what changed is taken
   * back and `project_full` thrown.
   */
  changeAnything<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    work: (bytes: number) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * Brings all that changed at or after this checkpoint back to what it was before it. Without an id nothing has changed,
   * and nothing is brought back. Throws `not_found`, and `conflict` when an earlier content is no longer kept.
   */
  restore(workspace: Workspace, id: string | undefined, origin: ChangeOrigin): Promise<Restored>
  /** Settles what a dead server left open, so that the list is whole. */
  settle(workspace: Workspace): Promise<void>
  /** `listener` hears of every project in which something was changed through this room. It must not throw. */
  onChange(listener: (projectId: ProjectId) => void): void
  /** What files held, for comparing. */
  keptContent(projectId: ProjectId): KeptContent
}

/** What came of a change: its files and, where the whole project was looked at, the bytes of all files. */
interface Settled {
  files: CheckpointFile[]
  bytes?: number
}

const SNAPSHOT_MS = 10 * 60_000
/** Every so many checkpoints of a project old ones are looked for. */
const PRUNE_EVERY = 20

export function createCheckpoints(options: {
  records: CheckpointRepository
  workspaces: Workspaces
  lanes: Lanes
  pool: WorkerPool
  rule: PruneRule
  log: { warn(details: object, message: string): void }
}): Checkpoints {
  const { records, workspaces, lanes, pool, rule, log } = options
  const sinceLastPrune = new Map<ProjectId, number>()
  const listeners: ((projectId: ProjectId) => void)[] = []

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

  const newRow = (
    workspace: Workspace,
    origin: ChangeOrigin,
    files: CheckpointFile[],
  ): CheckpointRow => ({
    id: newId(),
    projectId: workspace.projectId,
    userId: workspace.userId,
    messageId: origin.messageId,
    runId: origin.runId,
    tool: origin.tool,
    files,
    createdAt: new Date(),
  })

  /** Looks at what has become of the project and writes it down. */
  const settleChange = async (
    workspace: Workspace,
    { row, scope }: OpenChange,
    keepEmpty = false,
  ): Promise<Settled> => {
    const settled: Settled =
      scope === 'all'
        ? await pool.run('compare_snapshot', snapshotInput(workspace), { timeoutMs: SNAPSHOT_MS })
        : {
            files: await changesSince(
              workspace,
              new Map(row.files.map(({ path, before }) => [path, before])),
            ),
          }
    const { files } = settled
    if (files.length > 0 || keepEmpty) await records.insert({ ...row, files })
    await journalOf(workspace).close()
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
    keepEmpty = false,
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
    } catch (error) {
      await settleChange(workspace, change).catch(staysOpen)
      throw error
    }
    const settled = await settleChange(workspace, change, keepEmpty).catch(staysOpen)
    pruneSometimes(workspace)
    return { ...settled, result }
  }

  /** Undoes a change of which nothing is to stay. */
  const takeBack = async (
    workspace: Workspace,
    row: CheckpointRow,
    files: readonly CheckpointFile[],
  ): Promise<void> => {
    const different = await differing(workspace, targetsBefore([{ files }]))
    await applyTargets(workspace, different, keptContent(workspace.projectId))
    await records.remove([row.id])
    workspace.forgetSize()
  }

  /** In a turn of its own, so that nobody waits for it but the next change. */
  const pruneSometimes = (workspace: Workspace): void => {
    const { projectId } = workspace
    const count = (sinceLastPrune.get(projectId) ?? 0) + 1
    sinceLastPrune.set(projectId, count % PRUNE_EVERY)
    if (count < PRUNE_EVERY) return
    lanes
      .run(projectId, async () => {
        await records.remove(prunable(await records.ages(projectId), rule, new Date()))
        await dropUnneeded(workspace)
      })
      .catch((fault: unknown) => log.warn({ err: fault }, 'Old checkpoints could not be removed'))
  }

  /** Removes contents that no checkpoint names; while there are too many bytes, the oldest checkpoints too. */
  const dropUnneeded = async (workspace: Workspace): Promise<void> => {
    for (;;) {
      const rows = await records.since(workspace.projectId, '')
      const needed = rows.flatMap(({ files }) =>
        files.flatMap(({ before }) => (before?.kind === 'file' ? [before.hash] : [])),
      )
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
    onChange: (listener) => {
      listeners.push(listener)
    },
    change: (workspace, origin, paths, work, signal) =>
      lanes.run(
        workspace.projectId,
        async () => {
          await settleOpen(workspace)
          const before = await capturePaths(workspace, paths, keptContent(workspace.projectId))
          const row = newRow(workspace, origin, asOpenFiles(before))
          return (await performed(workspace, { row, scope: 'paths' }, work)).result
        },
        signal === undefined ? {} : { signal },
      ),

    changeAnything: (workspace, origin, work, signal) =>
      lanes.run(
        workspace.projectId,
        async () => {
          await settleOpen(workspace)
          // Makes the folder, should it be missing.
          await workspace.state('')
          const before = await pool.run('take_snapshot', snapshotInput(workspace), {
            timeoutMs: SNAPSHOT_MS,
            ...(signal === undefined ? {} : { signal }),
          })
          const row = newRow(workspace, origin, [])
          const change = { row, scope: 'all' } as const
          const after = await performed(workspace, change, () => work(before.bytes))
          const { bytes = 0, files, result } = after
          if (bytes <= workspace.limits.project || bytes <= before.bytes) return result
          await takeBack(workspace, row, files)
          throw new AppError(
            'project_full',
            `The project would have ${sizeText(bytes)}; at most ${sizeText(workspace.limits.project)} are allowed. What was changed is taken back.`,
          )
        },
        signal === undefined ? {} : { signal },
      ),

    restore: (workspace, id, origin) =>
      lanes.run(workspace.projectId, async () => {
        await settleOpen(workspace)
        const rows = id === undefined ? [] : await records.since(workspace.projectId, id)
        if (rows[0]?.id !== id) throw new AppError('not_found', 'There is no such checkpoint.')
        const kept = keptContent(workspace.projectId)
        const different = await differing(workspace, targetsBefore(rows))
        const targets = new Map([...different].map(([path, { target }]) => [path, target]))
        await checkKept(targets, kept)
        const before = await capturePaths(workspace, [...targets.keys()], kept)
        const row = newRow(workspace, origin, asOpenFiles(before))
        const { files } = await performed(
          workspace,
          { row, scope: 'paths' },
          () => applyTargets(workspace, different, kept),
          true,
        )
        return { restored: toldFiles(files).length, checkpoint: { ...row, files } }
      }),

    settle: (workspace) => lanes.run(workspace.projectId, () => settleOpen(workspace)),
  }
}
