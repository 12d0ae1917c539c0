// The only way to change a project: one change at a time, each preceded by a checkpoint of everything that it touches.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type {
  CheckpointRepository,
  CheckpointRow,
} from '../../db/repositories/projects/checkpoints.ts'
import type { ProjectRepository } from '../../db/repositories/projects/projects.ts'
import type { StorageRepository } from '../../db/repositories/projects/storage.ts'
import type { OutsideContentRepository } from '../../db/repositories/runs/outside-contents.ts'
import type { RunAttempt } from '../../db/repositories/runs/runs.ts'
import type { CheckpointFile } from '../../db/tables/projects/checkpoints.ts'
import { appError, projectDeleted } from '../../errors.ts'
import { atMost } from '../../lib/lru-limit.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import { parseInnerPath } from '../files/paths.ts'
import type { KeyedMutex } from '../keyed-mutex.ts'
import { requireProject } from '../open-project.ts'
import { createOutsideText, type OutsideText } from '../outside-text.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { Workspaces } from '../workspaces.ts'
import { type ContentStore, createContentStore } from './capture/content-store.ts'
import { createPruner, type PruneRule } from './prune.ts'
import {
  attemptOf,
  type ChangeJournal,
  type ChangeOrigin,
  createChangeJournal,
  createChangeRecorder,
  movePart,
  newChange,
  newCheckpoint,
  pathsPart,
  SNAPSHOT_TIMEOUT_MS,
  undoPart,
} from './record-change.ts'
import { assertContentsStored } from './undo/restore.ts'
import { partsOfAll, undoSteps } from './undo/undo-steps.ts'
import { createWholeProjectChange, type WholeProjectChange } from './whole-project-change.ts'

// How many bytes the stored earlier contents of each project take on the disk.

/** How long a measured size is used, because other instances change projects, and old checkpoints are removed. */
const TTL_MS = 10 * 60_000
const MAX_PROJECTS = 10_000

/** The size of each project's history, measured at most once between two changes. */
interface HistorySizes {
  of(projectId: ProjectId): Promise<number>
  /** Call it when the project has changed. */
  forget(projectId: ProjectId): void
}

/** Measured in a worker thread and cached for a while, by project. */
function createHistorySizes(
  pool: WorkerPool,
  contentsOf: (projectId: ProjectId) => string,
): HistorySizes {
  const sizes = new LRUCache<ProjectId, number>({ ...atMost(MAX_PROJECTS), ttl: TTL_MS })
  return {
    async of(projectId) {
      const known = sizes.get(projectId)
      if (known !== undefined) return known
      const input = { contents: contentsOf(projectId) }
      const { bytes } = await pool.run('measure_contents', input, {
        timeoutMs: SNAPSHOT_TIMEOUT_MS,
        owner: null,
      })
      sizes.set(projectId, bytes)
      return bytes
    },
    forget: (projectId) => {
      sizes.delete(projectId)
    },
  }
}

/** Exclusive access to projects: one change of a project at a time. */
interface ProjectAccess {
  /**
   * Runs `work` with exclusive access; its signal aborts when the project is deleted or `signal` aborts. Throws
   * `project_deleted`, and `store_busy` when the project stays locked for too long.
   */
  exclusive<T>(
    projectId: ProjectId,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * Call it with exclusive access, before each write. Throws `project_deleted`; `project_busy` if another instance has
   * taken over and completed the change from its journal; `request_stopped` if `by` may no longer write.
   */
  assertHeld(projectId: ProjectId, by?: RunAttempt): Promise<void>
  /** See `Checkpoints.removeProject`. */
  remove(
    projectId: ProjectId,
    steps: { stop(): Promise<void>; remove(): Promise<void> },
  ): Promise<void>
}

/** Create one per process: it knows which projects are being deleted. */
function createProjectAccess(
  records: Pick<CheckpointRepository, 'assertProject' | 'isCurrent'>,
  mutex: KeyedMutex,
): ProjectAccess {
  /** Projects that are being deleted. */
  const deleting = new Set<ProjectId>()
  /** Aborts the work that is running in a project. */
  const running = new Map<ProjectId, AbortController>()
  const assertNotDeleted = (projectId: ProjectId): void => {
    if (deleting.has(projectId)) throw projectDeleted()
  }
  return {
    async assertHeld(projectId, by) {
      assertNotDeleted(projectId)
      await mutex.assertHeld(projectId)
      if (by !== undefined && !(await records.isCurrent(by))) throw appError('request_stopped')
    },
    exclusive: (projectId, work, signal) =>
      mutex.run(
        projectId,
        async () => {
          assertNotDeleted(projectId)
          await records.assertProject(projectId)
          const controller = new AbortController()
          running.set(projectId, controller)
          // Checked again: a deletion that began during the query found nothing to abort.
          if (deleting.has(projectId)) controller.abort(projectDeleted())
          try {
            return await work(
              signal === undefined
                ? controller.signal
                : AbortSignal.any([signal, controller.signal]),
            )
          } finally {
            running.delete(projectId)
          }
        },
        signal === undefined ? {} : { signal },
      ),
    async remove(projectId, { stop, remove }) {
      deleting.add(projectId)
      running.get(projectId)?.abort(projectDeleted())
      try {
        await stop()
        await mutex.run(projectId, remove)
      } finally {
        deleting.delete(projectId)
      }
    },
  }
}

/** The result of a restore. */
export interface Restored {
  /** Number of restored files; of folders if only folders changed. */
  restored: number
  /** The new checkpoint, which undoes the restore. */
  checkpoint: CheckpointRow
}

/** Hears of a change: of which project, by whom, and of what. */
export type ChangeListener = (
  projectId: ProjectId,
  actorId: UserId,
  files: readonly CheckpointFile[],
) => void

/** All changes of projects go through here, so that they can be undone. */
export interface Checkpoints {
  /**
   * Runs `work` with exclusive access to the project, after storing what `paths` hold (files, folders with everything
   * below, or paths that `work` creates). No checkpoint is stored when nothing changes. `work` must change nothing but
   * these paths and must not call another change of this module. Throws what `work` throws, and `store_busy` when the
   * project stays locked for too long.
   */
  change<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    paths: readonly string[],
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /**
   * Renames a file, a link or a folder; throws what `Workspace.move` throws. For a folder only the rename is stored, not
   * its contents: restoring renames it back, with everything that other programs added to it.
   */
  move(workspace: Workspace, origin: ChangeOrigin, from: string, to: string): Promise<void>
  /** Like `change`, for a program that may change anything in the project; see `WholeProjectChange`. */
  changeAnything: WholeProjectChange
  /**
   * Deletes a project: aborts running work (the signal of `changeAnything`) and refuses waiting and later work with
   * `project_deleted`, then runs `stop` and, with exclusive access, `remove`. If either fails, the project stays.
   */
  removeProject(
    projectId: ProjectId,
    steps: { stop(): Promise<void>; remove(): Promise<void> },
  ): Promise<void>
  /**
   * Gives a project to another user: completes a change that a process left open, then runs `move` with exclusive access. What
   * waits meanwhile to change the former folder, at any instance, is refused with `project_busy`. Throws `store_busy` when the
   * project stays locked for too long.
   */
  handOver(workspace: Workspace, move: () => Promise<void>): Promise<void>
  /**
   * Restores everything that changed at or after this checkpoint to its state before it; without an id, nothing. Throws
   * `not_found`, and `conflict` when an earlier content has been pruned or when something unknown to all checkpoints is
   * in the way. What was restored until then has a checkpoint, too.
   */
  restore(workspace: Workspace, id: string | undefined, origin: ChangeOrigin): Promise<Restored>
  /** Completes a change that a process left open when it died, so that the list of checkpoints is complete. */
  recover(workspace: Workspace): Promise<void>
  /**
   * Does the same for every project; call it before anything else. Resolves when the affected projects are known; the
   * promise of each user resolves when that user's projects are recovered. They never reject: a change that cannot be
   * completed now is completed before the next change.
   */
  recoverAll(): Promise<ReadonlyMap<UserId, Promise<void>>>
  /** Calls `listener` with every change that this module records. It must not throw. */
  onChange(listener: ChangeListener): void
  /** Tracks which files contain text from outside. */
  outsideText: OutsideText
  /** The stored earlier contents of a project's files. */
  contentStore(projectId: ProjectId): ContentStore
  /** The bytes of these contents, at most some minutes old unless the project changed through this process. */
  historySize(projectId: ProjectId): Promise<number>
}

/** Maximum number of change journals that are read at the same time. */
const JOURNALS_IN_PARALLEL = 16

/** Create one per server, because `mutex` orders the changes of each project. */
export function createCheckpoints(options: {
  records: CheckpointRepository
  /** Who may change which project, and who stores it. */
  projects: Pick<ProjectRepository, 'find' | 'ownerOf'>
  /** How much of the users' storage the histories of projects use. */
  histories: Pick<StorageRepository, 'histories' | 'uncounted' | 'setHistory'>
  outsideContents: OutsideContentRepository
  workspaces: Workspaces
  mutex: KeyedMutex
  pool: WorkerPool
  rule: PruneRule
  log: { warn(details: object, message: string): void }
}): Checkpoints {
  const { records, projects, workspaces, mutex, pool, rule, log } = options
  const { storage } = workspaces
  const listeners: ChangeListener[] = []

  const contentsOf = (projectId: ProjectId): string =>
    join(workspaces.serverFolder(projectId), 'contents')
  const contentStore = (projectId: ProjectId): ContentStore =>
    createContentStore(contentsOf(projectId), workspaces.staging)
  const historySizes = createHistorySizes(pool, contentsOf)
  const snapshotInput = (workspace: Workspace) => ({
    root: workspace.root,
    folder: workspaces.serverFolder(workspace.projectId),
    contents: contentsOf(workspace.projectId),
  })
  const journalOf = (workspace: Workspace): ChangeJournal =>
    createChangeJournal(workspaces.serverFolder(workspace.projectId), workspaces.staging)
  const outsideText = createOutsideText(
    options.outsideContents,
    async (workspace) => (await journalOf(workspace).read())?.marks === 'written',
  )
  const access = createProjectAccess(records, mutex)
  const recorder = createChangeRecorder({
    records,
    outsideText,
    storage,
    access,
    pool,
    journalOf,
    snapshotInput,
    onChange: ({ projectId, actorId }, files) => {
      historySizes.forget(projectId)
      for (const listener of listeners) listener(projectId, actorId, files)
    },
    log,
  })
  const pruner = createPruner({
    records,
    histories: options.histories,
    storage,
    open: workspaces.open,
    access,
    pool,
    rule,
    snapshotInput,
    log,
  })
  storage.onExcess(pruner.makeRoom)

  /**
   * Runs `work` with exclusive access to the project, after completing any change that a process left open. Once another
   * instance has taken over the project or the run, nothing in the folder changes through `workspace`.
   */
  const exclusive = <T>(
    workspace: Workspace,
    origin: ChangeOrigin | null,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    access.exclusive(
      workspace.projectId,
      async (either) => {
        // Asked here once more for every change, by whatever way it came: the role may have changed since it was asked for.
        if (origin !== null) {
          const { actorId, projectId } = workspace
          const { userId } = await requireProject(projects, actorId, projectId, 'change')
          // Handed over while this waited, maybe by another instance: the folder would come into being once more.
          if (userId !== workspace.userId) throw appError('project_busy')
        }
        await recorder.recover(workspace)
        const by = origin === null ? undefined : attemptOf(origin)
        const endGuard = workspace.guardChanges(() => access.assertHeld(workspace.projectId, by))
        const result = await work(either).finally(endGuard)
        pruner.afterChange(workspace)
        return result
      },
      signal,
    )
  const toolsFor = (workspace: Workspace) => ({
    workspace,
    pool,
    contents: contentStore(workspace.projectId),
  })
  const changeWholeProject = createWholeProjectChange({
    records,
    outsideText,
    storage,
    recorder,
    pool,
    snapshotInput,
    toolsFor,
  })

  return {
    contentStore,
    historySize: historySizes.of,
    outsideText,
    onChange: (listener) => {
      listeners.push(listener)
    },
    change: (workspace, origin, paths, work, signal) =>
      exclusive(
        workspace,
        origin,
        async () => {
          const part = pathsPart({ ...toolsFor(workspace), signal }, paths, work)
          await recorder.perform(workspace, newChange(workspace, origin), [part])
          return part.result()
        },
        signal,
      ),

    move: (workspace, origin, fromInput, toInput) =>
      exclusive(workspace, origin, async () => {
        const [from, to] = [parseInnerPath(fromInput).text, parseInnerPath(toInput).text]
        const tools = toolsFor(workspace)
        const isFolder = (await workspace.state(from))?.kind === 'directory'
        const isFree = (await workspace.state(to)) === null
        // A file is captured like any other change. The workspace refuses what cannot be renamed.
        const part =
          isFolder && isFree && !to.startsWith(`${from}/`)
            ? movePart(tools, { from, to })
            : pathsPart(tools, [from, to], () => workspace.move(from, to))
        await recorder.perform(workspace, newChange(workspace, origin), [part])
      }),

    changeAnything: (workspace, origin, work, signal) =>
      exclusive(
        workspace,
        origin,
        (either) => changeWholeProject(workspace, origin, work, either),
        signal,
      ),

    restore: (workspace, id, origin) =>
      exclusive(workspace, origin, async () => {
        const rows = id === undefined ? [] : await records.since(workspace.projectId, id)
        if (rows[0]?.id !== id) throw appError('checkpoint_not_found')
        const tools = toolsFor(workspace)
        const { steps, growth } = await undoSteps(partsOfAll(records, rows))
        for (const step of steps)
          if (step.kind === 'restore') await assertContentsStored(step.targets, tools.contents)
        if (growth > 0) await storage.claim(workspace.userId, workspace.projectId, growth)
        const { row } = await recorder.perform(
          workspace,
          { row: newCheckpoint(workspace, origin), marks: 'nothing' },
          steps.map((step) => undoPart(tools, step)),
          { keepEmpty: true },
        )
        // The checkpoint is stored with the next change; the number of restored files is unknown until then.
        if (row === undefined) throw appError('restore_not_recorded')
        return { restored: row.fileCount, checkpoint: row }
      }),

    recover: (workspace) => exclusive(workspace, null, async () => {}),

    handOver: (workspace, move) =>
      access.exclusive(workspace.projectId, async () => {
        await recorder.recover(workspace)
        await access.assertHeld(workspace.projectId)
        await move()
      }),

    async recoverAll() {
      const folders = await workspaces.serverFolders()
      const open = await pLimit(JOURNALS_IN_PARALLEL).map(folders, (folder) =>
        createChangeJournal(folder, workspaces.staging)
          .read()
          .catch(() => null),
      )
      const recovered = new Map<UserId, Promise<void>>()
      for (const change of open) {
        if (change === null) continue
        const { projectId } = change.row
        const userId = (await projects.ownerOf(projectId)) ?? change.row.userId
        // Queued before any other work of its project, so that work that waits for the recovery cannot block it.
        const task = exclusive(workspaces.open(userId, projectId), null, async () => {}).catch(
          (error: unknown) =>
            log.warn({ err: error, project_id: projectId }, 'A checkpoint stays open'),
        )
        const others = recovered.get(userId)
        recovered.set(
          userId,
          Promise.all([others, task]).then(() => {}),
        )
      }
      return recovered
    },

    async removeProject(projectId, steps) {
      try {
        await access.remove(projectId, steps)
      } finally {
        storage.release(projectId)
      }
    },
  }
}
