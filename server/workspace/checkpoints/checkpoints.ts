// Every change of a project goes through here: one at a time, with a checkpoint of what it touches made first.
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { CheckpointRepository, CheckpointRow } from '../../db/repositories/checkpoints.ts'
import type { OutsideContentRepository } from '../../db/repositories/outside-contents.ts'
import { appError } from '../../errors.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import { sizeText } from '../files/faults.ts'
import { parseInnerPath } from '../files/paths.ts'
import { createOutsideText, type OutsideText } from '../outside-text.ts'
import type { Lanes } from '../project-lock.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { Workspaces } from '../workspaces.ts'
import { type ChangeJournal, type ChangeOrigin, createChangeJournal } from './change-journal.ts'
import { movePart, pathsPart, undoPart, withResult } from './change-parts.ts'
import { createKeptContent, type KeptContent } from './content-store.ts'
import { partsOfAll } from './parts.ts'
import { createProjectTurns } from './project-turns.ts'
import { createPruner, type PruneRule } from './prune.ts'
import { createChangeRecorder, newCheckpoint, SNAPSHOT_MS } from './record-change.ts'
import { checkKept, undoUnkept } from './restore.ts'
import { undoSteps } from './undo-steps.ts'

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
   * not call a change of this module. Throws what `work` throws, and `store_busy` when its turn does not come.
   */
  change<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    paths: readonly string[],
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * Renames a file, a link or a folder; throws what `Workspace.move` throws. Of a folder only the rename is stored, not
   * what is in it: restoring renames it back, with all that came into it in other ways than through this module.
   */
  move(workspace: Workspace, origin: ChangeOrigin, from: string, to: string): Promise<void>
  /**
   * The same as `change` for a program that may change anything in the project: the whole of it is kept, at the price of a scan.
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
   * and nothing is brought back. Throws `not_found`, and `conflict` when an earlier content is no longer kept, or when
   * something that no checkpoint knows is in the way; what was brought back until then has a checkpoint, too.
   */
  restore(workspace: Workspace, id: string | undefined, origin: ChangeOrigin): Promise<Restored>
  /** Settles what a dead server left open, so that the list is whole. */
  settle(workspace: Workspace): Promise<void>
  /**
   * The same for every project, to be called before anything else is. Resolves when the projects are known; the promises
   * in it, by user, when theirs are settled. They never reject: what cannot be settled now is with the next change.
   */
  settleAll(): Promise<ReadonlyMap<UserId, Promise<void>>>
  /** `listener` hears of every project in which something was changed through this module. It must not throw. */
  onChange(listener: (projectId: ProjectId) => void): void
  /** Which files hold text from outside. */
  outsideText: OutsideText
  /** What files held, for comparing. */
  keptContent(projectId: ProjectId): KeptContent
}

/** Side folders that are looked into at once. */
const FOLDERS_AT_ONCE = 16

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
  const outsideText = createOutsideText(
    options.outsideContents,
    async (workspace) => (await journalOf(workspace).read())?.marks === 'written',
  )
  const turns = createProjectTurns(records, lanes)
  const recorder = createChangeRecorder({
    records,
    outsideText,
    storage,
    turns,
    pool,
    journalOf,
    snapshotInput,
    onChange: (projectId) => {
      for (const listener of listeners) listener(projectId)
    },
    log,
  })
  const pruneSometimes = createPruner({ records, turns, pool, rule, snapshotInput, log })

  /** Runs `work` alone in the project, when what a dead server left open is settled. */
  const inTurn = <T>(
    workspace: Workspace,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    turns.alone(
      workspace.projectId,
      async (either) => {
        await recorder.settleOpen(workspace)
        const result = await work(either)
        pruneSometimes(workspace)
        return result
      },
      signal,
    )
  const toolsFor = (workspace: Workspace) => ({
    workspace,
    pool,
    kept: keptContent(workspace.projectId),
  })
  const changeOf = (workspace: Workspace, origin: ChangeOrigin, readsOutside = false) => ({
    row: newCheckpoint(workspace, origin),
    marks: origin.outside || readsOutside ? ('written' as const) : ('edited' as const),
  })

  return {
    keptContent,
    outsideText,
    onChange: (listener) => {
      listeners.push(listener)
    },
    change: (workspace, origin, paths, work, signal) =>
      inTurn(
        workspace,
        async () => {
          const part = pathsPart({ ...toolsFor(workspace), signal }, paths, work)
          await recorder.perform(workspace, changeOf(workspace, origin), [part])
          return part.result()
        },
        signal,
      ),

    move: (workspace, origin, fromInput, toInput) =>
      inTurn(workspace, async () => {
        const [from, to] = [parseInnerPath(fromInput).text, parseInnerPath(toInput).text]
        const tools = toolsFor(workspace)
        const isFolder = (await workspace.state(from))?.kind === 'directory'
        const isFree = (await workspace.state(to)) === null
        // One file is kept like any other that changes. What cannot be renamed is refused by the workspace.
        const part =
          isFolder && isFree && !to.startsWith(`${from}/`)
            ? movePart(tools, { from, to })
            : pathsPart(tools, [from, to], () => workspace.move(from, to))
        await recorder.perform(workspace, changeOf(workspace, origin), [part])
      }),

    changeAnything: (workspace, origin, work, outer) =>
      inTurn(
        workspace,
        async (signal) => {
          // Makes the folder, should it be missing.
          await workspace.state('')
          const { bytes: usedBefore } = await pool.run('take_snapshot', snapshotInput(workspace), {
            timeoutMs: SNAPSHOT_MS,
            signal,
          })
          const most = Math.min(
            workspace.limits.project,
            usedBefore + (await storage.left(workspace.userId)),
          )
          const readsOutside = await outsideText.isInProject(workspace.projectId)
          const change = changeOf(workspace, origin, readsOutside)
          const part = withResult(
            async () => ({ files: [], scope: 'all' as const }),
            () => work({ usedBefore, most, readsOutside, signal }),
          )
          const { bytes = 0 } = await recorder.perform(workspace, change, [part])
          if (bytes <= usedBefore) return part.result()
          /** Undoes the change, of which nothing is to stay. */
          const undo = async (): Promise<void> => {
            const { id } = change.row
            const { steps } = await undoSteps(partsOfAll(records, [{ id }]))
            await undoUnkept(steps, toolsFor(workspace))
            await records.takeBack(workspace.projectId, id, usedBefore)
            workspace.forgetSize()
          }
          if (bytes <= workspace.limits.project) {
            await storage.undoIfOver(workspace.userId, undo)
            return part.result()
          }
          await undo()
          throw appError('project_would_be_too_large', {
            size: sizeText(bytes),
            limit: sizeText(workspace.limits.project),
          })
        },
        outer,
      ),

    restore: (workspace, id, origin) =>
      inTurn(workspace, async () => {
        const rows = id === undefined ? [] : await records.since(workspace.projectId, id)
        if (rows[0]?.id !== id) throw appError('checkpoint_not_found')
        const tools = toolsFor(workspace)
        const { steps, grows } = await undoSteps(partsOfAll(records, rows))
        for (const step of steps)
          if (step.kind === 'restore') await checkKept(step.targets, tools.kept)
        if (grows > 0) await storage.claim(workspace.userId, workspace.projectId, grows)
        const { row } = await recorder.perform(
          workspace,
          { row: newCheckpoint(workspace, origin), marks: 'nothing' },
          steps.map((step) => undoPart(tools, step)),
          { keepEmpty: true },
        )
        // It is stored with the next change; what was restored is known to be many or few only then.
        if (row === undefined) throw appError('restore_not_recorded')
        return { restored: row.fileCount, checkpoint: row }
      }),

    settle: (workspace) => inTurn(workspace, async () => {}),

    async settleAll() {
      const folders = await workspaces.sideFolders()
      const open = await pLimit(FOLDERS_AT_ONCE).map(folders, (folder) =>
        createChangeJournal(folder, workspaces.staging)
          .read()
          .catch(() => null),
      )
      const settled = new Map<UserId, Promise<void>>()
      for (const change of open) {
        if (change === null) continue
        const { userId, projectId } = change.row
        // First in its project, whoever else comes: what waits for these waits for nothing behind them.
        const task = inTurn(workspaces.open(userId, projectId), async () => {}).catch(
          (error: unknown) =>
            log.warn({ err: error, project_id: projectId }, 'A checkpoint stays open'),
        )
        const others = settled.get(userId)
        settled.set(
          userId,
          Promise.all([others, task]).then(() => {}),
        )
      }
      return settled
    },

    async removeProject(projectId, steps) {
      try {
        await turns.remove(projectId, steps)
      } finally {
        storage.release(projectId)
      }
    },
  }
}
