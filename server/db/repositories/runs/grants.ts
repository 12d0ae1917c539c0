// Grants: permissions for tool calls that match them, and the calls that used them.
import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId, ProjectId, RunId, UserId } from '../../../protocol/ids.ts'
import type { ScheduleId } from '../../../protocol/schedules/schedule.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { afterMoment, countAll, inParallel } from '../../fragments.ts'

/** A row of `grants`. */
export type GrantRow = Database['tables']['grants']['$inferSelect']
/** A grant with the title of its conversation, or the name of its project or schedule. */
export type ListedGrant = GrantRow & { scopeName: string }

/** Where a call is made. */
export interface CallPlace {
  userId: UserId
  conversationId: ConversationId
  projectId: ProjectId | null
  /** The schedule that started the run, if one did. */
  scheduleId: ScheduleId | null
  runId: RunId
}

/** What happened to a use of a grant. */
export type GrantUse =
  /** `isFirst`: no other call of the run has used it. */
  | { kind: 'counted'; isFirst: boolean }
  /** This call has used it before: it is repeated after a restart. */
  | { kind: 'known' }
  /** Removed, expired, or used as often as it may be. */
  | { kind: 'refused' }

/** Uses the tables `grants` and `grantUses`; reads `conversations`, `projects`, `schedules` and `runs`. */
export function createGrantRepository(database: Database) {
  const { read, tables } = database
  const { grants, conversations, projects, schedules, runs } = tables
  const scopeName = sql<string>`coalesce(${conversations.title}, ${projects.name}, ${schedules.name}, '')`
  const isOwn = (userId: UserId, id: string) => and(eq(grants.userId, userId), eq(grants.id, id))

  const select = () =>
    read
      .select({ grant: grants, scopeName })
      .from(grants)
      .leftJoin(conversations, eq(conversations.id, grants.conversationId))
      .leftJoin(projects, eq(projects.id, grants.projectId))
      .leftJoin(schedules, eq(schedules.id, grants.scheduleId))
      .leftJoin(runs, eq(runs.id, grants.runId))
  /** Omits those for a run that has ended. */
  const isListed = or(isNull(grants.runId), isNull(runs.endedAt))
  const listed = (row: { grant: GrantRow; scopeName: string }): ListedGrant => ({
    ...row.grant,
    scopeName: row.scopeName,
  })

  return {
    async insert(tx: Writer, grant: GrantRow): Promise<void> {
      await tx.insert(grants).values(grant)
    },

    /** How many grants with a match a user has; those for every call of a tool are not counted. */
    async count(tx: Writer, userId: UserId): Promise<number> {
      const [row] = await tx
        .select({ count: countAll })
        .from(grants)
        .where(and(eq(grants.userId, userId), isNotNull(grants.match)))
      return row?.count ?? 0
    },

    /** Whether the same permission for every call of a tool is stored. */
    isRemembered: (tx: Writer, grant: GrantRow) => isRemembered(database, tx, grant),

    async find(userId: UserId, id: string): Promise<ListedGrant | undefined> {
      const [row] = await select()
        .where(and(isOwn(userId, id), isListed))
        .limit(1)
      return row === undefined ? undefined : listed(row)
    },

    /** The user's grants, newest first. */
    async list(
      userId: UserId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<ListedGrant>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await select()
        .where(
          and(
            eq(grants.userId, userId),
            isListed,
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(grants.createdAt, grants.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(grants.createdAt), desc(grants.id))
        .limit(limit + 1)
      return toPage(rows.map(listed), limit, (last) => [last.createdAt.getTime(), last.id])
    },

    /** Removes a grant of the user; undefined if there is none with this id. */
    async remove(tx: Writer, userId: UserId, id: string): Promise<GrantRow | undefined> {
      const [removed] = await tx.delete(grants).where(isOwn(userId, id)).returning()
      return removed
    },

    /** Removes the grants of a schedule, and returns them. */
    async removeOfSchedule(tx: Writer, id: ScheduleId): Promise<GrantRow[]> {
      return await tx.delete(grants).where(eq(grants.scheduleId, id)).returning()
    },

    /** The ids of the grants for a tool that hold at this place and time, oldest first. */
    openFor: (place: CallPlace, tool: string, at: Date) => openFor(database, place, tool, at),

    /** These grants, in any order. */
    async findAll(ids: readonly string[]): Promise<GrantRow[]> {
      if (ids.length === 0) return []
      return await read
        .select()
        .from(grants)
        .where(inArray(grants.id, [...ids]))
    },

    /**
     * Counts a call that a grant lets through, once, unless the grant no longer holds.
     * @param use.mayBeFirst false if a call of the run is known to have used it.
     */
    use: (
      tx: Writer,
      given: { id: string; runId: RunId; idRef: string; at: Date; mayBeFirst: boolean },
    ) => use(database, tx, given),
  }
}

async function use(
  database: Database,
  tx: Writer,
  {
    id,
    runId,
    idRef,
    at,
    mayBeFirst,
  }: { id: string; runId: RunId; idRef: string; at: Date; mayBeFirst: boolean },
): Promise<GrantUse> {
  const { grantUses, grants } = database.tables
  const ofRun = and(eq(grantUses.grantId, id), eq(grantUses.runId, runId))
  const ofCall = and(ofRun, eq(grantUses.idRef, idRef))
  let [isCounted, isFirst, isNew] = [false, false, false]
  // Together, because every call that a grant lets through waits for them. The first locks the grant, so that the others
  // see every use that was committed before.
  await inParallel(
    async () => {
      const rows = await tx
        .update(grants)
        .set({ uses: sql`${grants.uses} + 1`, lastUsedAt: at })
        .where(and(eq(grants.id, id), isOpen(database, at)))
        .returning({ id: grants.id })
      isCounted = rows.length > 0
    },
    async () => {
      if (!mayBeFirst) return
      const rows = await tx.select({ idRef: grantUses.idRef }).from(grantUses).where(ofRun).limit(1)
      isFirst = rows.length === 0
    },
    async () => {
      const rows = await tx
        .insert(grantUses)
        .select(
          // Not for a grant that was removed meanwhile.
          tx
            .select({
              grantId: grants.id,
              runId: sql<RunId>`${runId}`.as('run_id'),
              idRef: sql<string>`${idRef}`.as('id_ref'),
            })
            .from(grants)
            .where(eq(grants.id, id)),
        )
        .onConflictDoNothing()
        .returning({ idRef: grantUses.idRef })
      isNew = rows.length > 0
    },
  )
  if (isCounted && isNew) return { kind: 'counted', isFirst }
  // Rare, so that it may cost another statement.
  if (isNew) await tx.delete(grantUses).where(ofCall)
  if (isCounted)
    await tx
      .update(grants)
      .set({ uses: sql`${grants.uses} - 1` })
      .where(eq(grants.id, id))
  if (isCounted || isNew) return { kind: isNew ? 'refused' : 'known' }
  const [before] = await tx
    .select({ idRef: grantUses.idRef })
    .from(grantUses)
    .where(ofCall)
    .limit(1)
  return before === undefined ? { kind: 'refused' } : { kind: 'known' }
}

/** It can still let calls through at this time. */
function isOpen(database: Database, at: Date) {
  const { grants } = database.tables
  return and(
    or(isNull(grants.expiresAt), gt(grants.expiresAt, at)),
    or(isNull(grants.maxUses), lt(grants.uses, grants.maxUses)),
  )
}

async function isRemembered(
  database: Database,
  tx: Writer,
  { userId, conversationId, runId, tool, toolPrint }: GrantRow,
): Promise<boolean> {
  const { grants } = database.tables
  const rows = await tx
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(
        eq(grants.userId, userId),
        eq(grants.tool, tool),
        conversationId === null ? undefined : eq(grants.conversationId, conversationId),
        isNull(grants.match),
        runId === null ? isNull(grants.runId) : eq(grants.runId, runId),
        toolPrint === null ? isNull(grants.toolPrint) : eq(grants.toolPrint, toolPrint),
      ),
    )
    .limit(1)
  return rows.length > 0
}

async function openFor(
  database: Database,
  place: CallPlace,
  tool: string,
  at: Date,
): Promise<string[]> {
  const { read } = database
  const { grants } = database.tables
  const { userId, conversationId, projectId, scheduleId, runId } = place
  const rows = await read
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(
        eq(grants.userId, userId),
        eq(grants.tool, tool),
        or(
          eq(grants.conversationId, conversationId),
          projectId === null ? undefined : eq(grants.projectId, projectId),
          scheduleId === null ? undefined : eq(grants.scheduleId, scheduleId),
        ),
        or(isNull(grants.runId), eq(grants.runId, runId)),
        isOpen(database, at),
      ),
    )
    .orderBy(grants.createdAt, grants.id)
  return rows.map(({ id }) => id)
}
