// Checkpoints of projects: the paths that each change touched, and what they contained before.
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  ne,
  or,
  sql,
} from 'drizzle-orm'
import { projectDeleted } from '../../../errors.ts'
import { appKindOf } from '../../../protocol/app-kind.ts'
import type { MessageId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { beginsWith } from '../../fragments.ts'
import type { CheckpointFile } from '../../tables/projects/checkpoints.ts'
import { createAttemptFence, type RunAttempt, RunOver } from '../runs/runs.ts'

/** A checkpoint without its files, of which there may be many thousands. */
export type CheckpointRow = Database['tables']['checkpoints']['$inferSelect']
/** A checkpoint before it is stored. */
export type NewCheckpoint = Omit<CheckpointRow, 'fileCount' | 'sample'>

/** Stores checkpoints of projects. */
export type CheckpointRepository = ReturnType<typeof createCheckpointRepository>

/** The size of a project's files after a change, in bytes: the measured total, or the growth. */
export type ProjectSize = { bytes: number } | { grown: number }

/** Files of a checkpoint that are stored and read per page. */
const PAGE_FILES = 250
/** Files of each checkpoint that lists show. */
const SAMPLE_FILES = 20
/** Changes of a tool in which a content is looked for. */
const NEWEST_CHANGES = 200
/** `fileCount` of a checkpoint whose files are not all stored yet. */
const INCOMPLETE = -1

/** Folders are listed only if they were renamed, or if nothing else changed. */
const isShown = ({ before, after, movedTo, movedFrom }: CheckpointFile): boolean =>
  (movedTo ?? movedFrom) !== undefined || (before ?? after)?.kind !== 'directory'

/** Adds the contents that are needed to undo these changes. */
function addNeeded(
  needed: Map<string, number>,
  files: readonly CheckpointFile[],
): Map<string, number> {
  for (const { before } of files) if (before?.kind === 'file') needed.set(before.hash, before.size)
  return needed
}

/** The files of checkpoints, and the contents that they need. */
function createCheckpointContents(database: Database) {
  const { read, tables } = database
  const { checkpoints, checkpointFiles } = tables
  /** The pages of one checkpoint in order, yielding to other work between them. */
  async function* pagesOf(id: string, from = 0): AsyncGenerator<CheckpointFile[]> {
    const [start] = await read
      .select({ first: checkpointFiles.first })
      .from(checkpointFiles)
      .where(and(eq(checkpointFiles.checkpointId, id), lte(checkpointFiles.first, from)))
      .orderBy(desc(checkpointFiles.first))
      .limit(1)
    for (let after = (start?.first ?? 0) - 1; ; ) {
      const [page] = await read
        .select({ first: checkpointFiles.first, files: checkpointFiles.files })
        .from(checkpointFiles)
        .where(and(eq(checkpointFiles.checkpointId, id), gt(checkpointFiles.first, after)))
        .orderBy(asc(checkpointFiles.first))
        .limit(1)
      if (page === undefined) return
      yield page.files.slice(Math.max(0, from - page.first))
      after = page.first
      await nextTurn()
    }
  }

  return {
    /** All files of a checkpoint in pages: files first, then folders. */
    pages: (id: string): AsyncGenerator<CheckpointFile[]> => pagesOf(id),

    /** At most `limit` listed files from position `from` on. `row` belongs to a project of the user. */
    async files(row: CheckpointRow, from: number, limit: number): Promise<CheckpointFile[]> {
      const count = Math.min(limit, row.fileCount - from)
      const found: CheckpointFile[] = []
      if (count <= 0) return found
      for await (const page of pagesOf(row.id, from)) {
        found.push(...page.slice(0, count - found.length))
        if (found.length >= count) break
      }
      return found
    },

    /** Whether one of the tool's newest changes left this content, named by its hash, at the path. */
    async isLeftBy(
      projectId: ProjectId,
      { tool, path, hash }: { tool: string; path: string; hash: string },
    ): Promise<boolean> {
      const rows = await read
        .select({ id: checkpoints.id })
        .from(checkpoints)
        .where(and(eq(checkpoints.projectId, projectId), eq(checkpoints.tool, tool)))
        .orderBy(desc(checkpoints.id))
        .limit(NEWEST_CHANGES)
      for (const { id } of rows)
        for await (const page of pagesOf(id))
          for (const { path: changed, after } of page)
            if (changed === path && after?.kind === 'file' && after.hash === hash) return true
      return false
    },

    /** The contents that the checkpoints of a project need: their sizes in bytes by hash. */
    async neededContents(projectId: ProjectId): Promise<Map<string, number>> {
      const needed = new Map<string, number>()
      const rows = await read
        .select({ id: checkpoints.id })
        .from(checkpoints)
        .where(eq(checkpoints.projectId, projectId))
      for (const { id } of rows) for await (const page of pagesOf(id)) addNeeded(needed, page)
      return needed
    },
  }
}

/** Who made a change. */
const actor = ({ actorId, userId }: Database['tables']['checkpoints']) =>
  sql`coalesce(${actorId}, ${userId})`

/** The checkpoints of a project, and when they were created. */
function createCheckpointList(database: Database) {
  const { read, tables } = database
  const { checkpoints, conversations, messages, users } = tables

  return {
    /** With who made them. Newest first, one more than `limit` when there are more; `before` is the last id of the previous page. */
    list: (
      projectId: ProjectId,
      { limit, before }: { limit: number; before?: string | undefined },
    ): Promise<(CheckpointRow & { actorName: string | null })[]> =>
      read
        .select({ ...getTableColumns(checkpoints), actorName: users.username })
        .from(checkpoints)
        .leftJoin(users, eq(users.id, actor(checkpoints)))
        .where(
          and(
            eq(checkpoints.projectId, projectId),
            ne(checkpoints.fileCount, INCOMPLETE),
            before === undefined ? undefined : lt(checkpoints.id, before),
          ),
        )
        .orderBy(desc(checkpoints.id))
        .limit(limit + 1),

    async find(projectId: ProjectId, id: string): Promise<CheckpointRow | undefined> {
      const [row] = await read
        .select()
        .from(checkpoints)
        .where(
          and(
            eq(checkpoints.projectId, projectId),
            eq(checkpoints.id, id),
            ne(checkpoints.fileCount, INCOMPLETE),
          ),
        )
      return row
    },

    /** This checkpoint and all later ones, oldest first, without their files (`pages`). */
    since: (projectId: ProjectId, id: string): Promise<CheckpointRow[]> =>
      read
        .select()
        .from(checkpoints)
        .where(and(eq(checkpoints.projectId, projectId), gte(checkpoints.id, id)))
        .orderBy(asc(checkpoints.id)),

    /** When a message of this user was created; undefined when the user has no such message. */
    async momentOfMessage(userId: UserId, messageId: MessageId): Promise<Date | undefined> {
      const [row] = await read
        .select({ createdAt: messages.createdAt })
        .from(messages)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .where(and(eq(messages.id, messageId), eq(conversations.userId, userId)))
      return row?.createdAt
    },

    /** The oldest checkpoint created for this message, or at or after `moment`, when the message was created. */
    async firstSince(
      projectId: ProjectId,
      messageId: MessageId,
      moment: Date,
    ): Promise<CheckpointRow | undefined> {
      const [row] = await read
        .select()
        .from(checkpoints)
        .where(
          and(
            eq(checkpoints.projectId, projectId),
            or(eq(checkpoints.messageId, messageId), gte(checkpoints.createdAt, moment)),
          ),
        )
        .orderBy(asc(checkpoints.id))
        .limit(1)
      return row
    },

    /** Ids and creation times of all checkpoints of a project, newest first, for pruning. */
    ages: (projectId: ProjectId): Promise<{ id: string; createdAt: Date }[]> =>
      read
        .select({ id: checkpoints.id, createdAt: checkpoints.createdAt })
        .from(checkpoints)
        .where(eq(checkpoints.projectId, projectId))
        .orderBy(desc(checkpoints.id)),
  }
}

/** Ids are time-ordered, so they define the order. Callers check first that the project belongs to the user. */
export function createCheckpointRepository(database: Database) {
  const { tables } = database
  const { checkpoints, checkpointFiles, projects } = tables
  const fence = createAttemptFence(database)

  return {
    ...createCheckpointContents(database),
    ...createCheckpointList(database),

    /**
     * Stores a checkpoint with its files and updates the size of its project. Lists count files, and folders only if nothing
     * else changed. A checkpoint that is already stored (after a crash) stays unchanged.
     * @param by the attempt that made the change; absent for a person, and when somebody else completes it from its journal.
     * @throws AppError `project_deleted`. @throws RunOver when the attempt may no longer write.
     */
    async insert(
      row: NewCheckpoint,
      files: readonly CheckpointFile[],
      size: ProjectSize,
      by?: RunAttempt,
    ): Promise<CheckpointRow> {
      const shown = files.filter(isShown)
      const ordered =
        shown.length === 0 ? files : [...shown, ...files.filter((file) => !isShown(file))]
      const listed = shown.length === 0 ? files : shown
      const complete: CheckpointRow = {
        ...row,
        fileCount: listed.length,
        sample: listed.slice(0, SAMPLE_FILES).map(({ path, change }) => ({ path, change })),
      }
      // A large change is stored page by page, so that other writers do not wait for all of it; it is listed once complete.
      const single = ordered.length <= PAGE_FILES
      const stored = await database.write(async (tx) => {
        const mayWrite = by === undefined ? sql<true>`true` : fence(by.id, by.attempt)
        const [found] = await tx
          .select({ mayWrite: sql<boolean>`${mayWrite}`.mapWith(Boolean) })
          .from(projects)
          .where(project(database, row))
        if (found === undefined) throw projectDeleted()
        if (!found.mayWrite) throw new RunOver()
        const [existing] = await tx.select().from(checkpoints).where(eq(checkpoints.id, row.id))
        if (existing !== undefined && existing.fileCount !== INCOMPLETE) return existing
        if (existing !== undefined) await tx.delete(checkpoints).where(eq(checkpoints.id, row.id))
        await tx
          .insert(checkpoints)
          .values({ ...complete, ...(single ? {} : { fileCount: INCOMPLETE }) })
        if (single && ordered.length > 0)
          await tx
            .insert(checkpointFiles)
            .values({ checkpointId: row.id, first: 0, files: [...ordered] })
        await endApps(database, tx, row.projectId, files)
        await endNetworksOfOthers(database, tx, row, files)
        if (existing === undefined)
          await tx
            .update(projects)
            .set({ ...sizeColumn(database, size), historySize: grownHistory(database, files) })
            .where(project(database, row))
        return undefined
      })
      if (stored !== undefined || single) return stored ?? complete
      for (let first = 0; first < ordered.length; first += PAGE_FILES) {
        await nextTurn()
        const page = ordered.slice(first, first + PAGE_FILES)
        await database.write(async (tx) => {
          await tx.insert(checkpointFiles).values({ checkpointId: row.id, first, files: page })
        })
      }
      await database.write(async (tx) => {
        await tx
          .update(checkpoints)
          .set({ fileCount: complete.fileCount })
          .where(eq(checkpoints.id, row.id))
      })
      return complete
    },

    /** @throws AppError `project_deleted`. */
    assertProject: (projectId: ProjectId) => assertProject(database, projectId),

    /** Whether the attempt may still write. */
    isCurrent: (attempt: RunAttempt) => isCurrent(database, attempt),

    remove: (ids: readonly string[]): Promise<void> =>
      database.write(async (tx) => {
        if (ids.length > 0) await tx.delete(checkpoints).where(inArray(checkpoints.id, [...ids]))
      }),

    /** Removes the checkpoint of a reverted change; the project's size is `bytes` again. */
    revert: (projectId: ProjectId, id: string, bytes: number) =>
      revert(database, projectId, id, bytes),
  }
}

/** Paths that one statement names. */
const PATHS_AT_ONCE = 500

/**
 * Ends the addresses of apps whose file is deleted or moved by a change, and their permissions to use the network: they are not
 * those of a later file with this name.
 */
async function endApps(
  { tables: { apps, appNetworks } }: Database,
  tx: Writer,
  projectId: ProjectId,
  files: readonly CheckpointFile[],
): Promise<void> {
  const gone = files.flatMap(({ path, before, after }) =>
    before?.kind === 'file' && after?.kind !== 'file' && appKindOf(path) !== null ? [path] : [],
  )
  // Of a folder that is moved, its files are not listed.
  for (const { path, before, movedTo } of files)
    if (before?.kind === 'directory' && movedTo !== undefined)
      for (const table of [apps, appNetworks])
        await tx
          .delete(table)
          .where(and(eq(table.projectId, projectId), beginsWith(table.path, `${path}/`)))
  for (let from = 0; from < gone.length; from += PATHS_AT_ONCE) {
    const paths = gone.slice(from, from + PATHS_AT_ONCE)
    for (const table of [apps, appNetworks])
      await tx.delete(table).where(and(eq(table.projectId, projectId), inArray(table.path, paths)))
  }
}

/**
 * Ends the permissions of apps to use the network, and their addresses, that others than who made the change have given: they
 * have not seen what the app, or a file that it may load from its folder, is now.
 */
async function endNetworksOfOthers(
  { tables: { apps, appNetworks } }: Database,
  tx: Writer,
  { projectId, userId, actorId }: Pick<CheckpointRow, 'projectId' | 'userId' | 'actorId'>,
  files: readonly CheckpointFile[],
): Promise<void> {
  const ofOthers = await tx
    .select({ userId: appNetworks.userId, path: appNetworks.path })
    .from(appNetworks)
    .where(and(eq(appNetworks.projectId, projectId), ne(appNetworks.userId, actorId ?? userId)))
  for (const given of ofOthers) {
    const folder = given.path.slice(0, given.path.lastIndexOf('/') + 1)
    if (!files.some(({ path }) => path.startsWith(folder) || folder.startsWith(`${path}/`)))
      continue
    for (const table of [apps, appNetworks])
      await tx
        .delete(table)
        .where(
          and(
            eq(table.userId, given.userId),
            eq(table.projectId, projectId),
            eq(table.path, given.path),
          ),
        )
  }
}

function revert(
  database: Database,
  projectId: ProjectId,
  id: string,
  bytes: number,
): Promise<void> {
  const { checkpoints, projects } = database.tables
  return database.write(async (tx) => {
    await tx.delete(checkpoints).where(eq(checkpoints.id, id))
    await tx
      .update(projects)
      .set({ size: bytes, historySize: null })
      .where(project(database, { projectId }))
  })
}

function project(database: Database, { projectId }: Pick<NewCheckpoint, 'projectId'>) {
  const { projects } = database.tables
  return eq(projects.id, projectId)
}

async function assertProject(
  database: Database,
  projectId: ProjectId,
): Promise<{ isScratch: boolean }> {
  const { read } = database
  const { projects } = database.tables
  const [there] = await read
    .select({ isScratch: projects.scratch })
    .from(projects)
    .where(project(database, { projectId }))
  if (there === undefined) throw projectDeleted()
  return there
}

async function isCurrent(database: Database, { id, attempt }: RunAttempt): Promise<boolean> {
  const { read } = database
  const { runs } = database.tables
  const [current] = await read
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.id, id), eq(runs.attempt, attempt), isNull(runs.endedAt)))
  return current !== undefined
}

/** An upper bound, because contents may be stored already; the exact size is counted when checkpoints are removed. */
function grownHistory(database: Database, files: readonly CheckpointFile[]) {
  const { projects } = database.tables
  const needed = addNeeded(new Map(), files)
  return sql`${projects.historySize} + ${[...needed.values()].reduce((sum, size) => sum + size, 0)}`
}

/** An unknown size stays unknown until it is measured. */
function sizeColumn(database: Database, size: ProjectSize) {
  const { projects } = database.tables
  return {
    size: 'bytes' in size ? size.bytes : sql`${projects.size} + ${size.grown}`,
  }
}
