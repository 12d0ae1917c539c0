// Every change of a project goes through here: one at a time, with a checkpoint of what it touches made first.
import { join } from 'node:path'
import type { CheckpointRepository, CheckpointRow } from '../db/repositories/checkpoints.ts'
import type { CheckpointFile, PathContent } from '../db/tables/projects.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { MessageId, ProjectId, RunId } from '../protocol/ids.ts'
import { type Captured, captureOne, capturePaths, pathsBelow, sameContent } from './capture.ts'
import { type ChangeJournal, createChangeJournal, type OpenChange } from './change-journal.ts'
import { createKeptContent, type KeptContent } from './kept-content.ts'
import type { Lanes } from './lanes.ts'
import { type ProjectPath, parseInnerPath } from './paths.ts'
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
  /** The same for a program that may change anything in the project: the whole of it is kept, at the price of a scan. */
  changeAnything<T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    work: () => Promise<T>,
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
    createKeptContent(contentsOf(projectId))
  const snapshotInput = (workspace: Workspace) => ({
    root: workspace.root,
    folder: workspaces.sideFolder(workspace.projectId),
    contents: contentsOf(workspace.projectId),
  })

  const journalOf = (workspace: Workspace): ChangeJournal =>
    createChangeJournal(workspaces.sideFolder(workspace.projectId))

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

  /** Looks at what has become of the project and writes it down; answers the files that changed. */
  const settleChange = async (
    workspace: Workspace,
    { row, scope }: OpenChange,
    keepEmpty = false,
  ): Promise<CheckpointFile[]> => {
    const files =
      scope === 'all'
        ? await pool.run('compare_snapshot', snapshotInput(workspace), { timeoutMs: SNAPSHOT_MS })
        : await changesSince(
            workspace,
            new Map(row.files.map(({ path, before }) => [path, before])),
          )
    if (files.length > 0 || keepEmpty) await records.insert({ ...row, files })
    await journalOf(workspace).close()
    if (scope === 'all') workspace.forgetSize()
    if (files.length > 0) for (const listener of listeners) listener(workspace.projectId)
    return files
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
  ): Promise<{ result: T; files: CheckpointFile[] }> => {
    await journalOf(workspace).open(change)
    const staysOpen = (fault: unknown): CheckpointFile[] => {
      // Whatever the work did is done and must be told as it is; the next change settles the note first.
      log.warn({ err: fault }, 'A checkpoint stays open until the next change')
      return []
    }
    let result: T
    try {
      result = await work()
    } catch (error) {
      await settleChange(workspace, change).catch(staysOpen)
      throw error
    }
    const files = await settleChange(workspace, change, keepEmpty).catch(staysOpen)
    pruneSometimes(workspace)
    return { result, files }
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
          await pool.run('take_snapshot', snapshotInput(workspace), {
            timeoutMs: SNAPSHOT_MS,
            ...(signal === undefined ? {} : { signal }),
          })
          const row = newRow(workspace, origin, [])
          return (await performed(workspace, { row, scope: 'all' }, work)).result
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

/** What a person is told of a change: its files; folders only where nothing else changed. */
export function toldFiles(files: readonly CheckpointFile[]): readonly CheckpointFile[] {
  const inner = files.filter(({ before, after }) => (before ?? after)?.kind !== 'directory')
  return inner.length > 0 ? inner : files
}

/** What is known before the change: enough to undo it should nothing more ever be written down. */
const asOpenFiles = (before: Captured): CheckpointFile[] =>
  [...before].map(([path, content]) => ({
    path,
    change: content === null ? 'added' : 'modified',
    before: content,
    after: null,
  }))

async function changesSince(workspace: Workspace, before: Captured): Promise<CheckpointFile[]> {
  const files: CheckpointFile[] = []
  const seen = new Set<string>(before.keys())
  const compare = async (path: ProjectPath, was: PathContent | null) => {
    const is = await captureOne(workspace.root, path, null)
    if (sameContent(was, is)) return null
    const change = was === null ? 'added' : is === null ? 'deleted' : 'modified'
    files.push({ path: path.text, change, before: was, after: is })
    return is
  }
  for (const [text, was] of before) {
    const path = parseInnerPath(text)
    if ((await compare(path, was))?.kind !== 'directory') continue
    // A folder that came as a whole, by a move: what is in it came too.
    for (const inner of await pathsBelow(workspace.root, path)) {
      if (seen.has(inner.text)) continue
      seen.add(inner.text)
      await compare(inner, null)
    }
  }
  return files
}
