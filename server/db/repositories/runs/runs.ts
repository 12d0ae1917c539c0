// Runs: fenced writes of their attempts, and how runs are claimed, ended and resumed.
import {
  and,
  asc,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../protocol/ids.ts'
import type { FinishReason } from '../../../protocol/runs/run-event.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { afterMoment, countAll, prepareOnEach, prepareUpdates, valuesOf } from '../../fragments.ts'
import { RUN_VERSION } from '../../run-version.ts'
import type { StopCause } from '../../tables/runs/runs.ts'
import type { Tables } from '../../tables.ts'
import { createApprovals } from './approvals.ts'
import { isUnheld } from './leases.ts'
import { fromUnfinishedOfUser } from './unfinished-runs.ts'

// Which active run keeps another one of its conversation from starting, and which of the two places of the unique index
// `runs_one_active` a run takes.

/** The columns of the run that is to start. `beside`: whether it may be active at the same time as another one. */
type Starting = Record<'kind' | 'conversationId' | 'beside' | 'userMessageId', SQL | Placeholder>

/** The runs, as the conditions name them. */
const otherRuns = ({ runs }: Pick<Database['tables'], 'runs'>): SQL => sql`${runs} as other`

/** Exactly the condition of the index, so that it is used and there are at most two. */
const isActive = (conversationId: SQL | Placeholder): SQL =>
  sql`other.conversation_id = ${conversationId} and other.kind = 'chat' and other.ended_at is null`

/**
 * Whether one of `otherRuns` is in the way: for a run that may be beside another, one that answers another question. The index
 * keeps a third one out.
 */
const isInTheWay = ({ kind, conversationId, beside, userMessageId }: Starting): SQL =>
  sql`${kind} = 'chat' and ${isActive(conversationId)}
    and (not ${beside} or other.user_message_id is distinct from ${userMessageId})`

/** Whether the first place is taken, so that a run that may be beside another takes the second one. */
const isFirstTaken = (
  tables: Pick<Database['tables'], 'runs'>,
  conversationId: SQL | Placeholder,
): SQL =>
  sql`exists (select 1 from ${otherRuns(tables)} where ${isActive(conversationId)} and not other.beside)`

// The background tasks among the runs of a conversation; part of the repository of runs.

/** Uses the table `runs`. */
function createBackgroundRuns(database: Database) {
  const { runs } = database.tables
  return {
    /** The active background tasks of a conversation, as the open transaction sees it. */
    async countBackground(tx: Writer, conversationId: ConversationId): Promise<number> {
      const [row] = await tx
        .select({ count: countAll })
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            eq(runs.kind, 'background'),
            isNull(runs.endedAt),
          ),
        )
      return row?.count ?? 0
    },

    /** The latest 200 background tasks of a conversation, newest last. */
    async background(userId: UserId, conversationId: ConversationId): Promise<RunRow[]> {
      const latest = await database.read
        .select()
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            eq(runs.userId, userId),
            eq(runs.kind, 'background'),
          ),
        )
        .orderBy(desc(runs.createdAt), desc(runs.id))
        .limit(200)
      return latest.reverse()
    },
  }
}

// The runs of a user, newest first; part of the repository of runs.

/** Uses the tables `runs` and `conversations`. */
function createRunList(database: Database) {
  const { conversations, runs } = database.tables
  const listed = {
    id: runs.id,
    conversationId: runs.conversationId,
    title: conversations.title,
    messageId: runs.messageId,
    kind: runs.kind,
    status: runs.status,
    model: runs.model,
    promptTokens: runs.promptTokens,
    completionTokens: runs.completionTokens,
    cachedTokens: runs.cachedTokens,
    cost: runs.cost,
    createdAt: runs.createdAt,
    endedAt: runs.endedAt,
  }
  const select = (userId: UserId, cursor: string | undefined) => {
    const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
    return database.read
      .select(listed)
      .from(runs)
      .innerJoin(conversations, eq(conversations.id, runs.conversationId))
      .where(
        and(
          eq(runs.userId, userId),
          isNull(conversations.deletedAt),
          eq(conversations.temporary, false),
          moment === undefined || id === undefined
            ? undefined
            : afterMoment(runs.createdAt, runs.id, new Date(moment), id),
        ),
      )
      .orderBy(desc(runs.createdAt), desc(runs.id))
  }
  type Row = Awaited<ReturnType<typeof select>>[number]

  return {
    /** Omits runs of conversations that are temporary or in the trash. */
    async list(
      userId: UserId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<Row>> {
      const rows = await select(userId, cursor).limit(limit + 1)
      return toPage(rows, limit, (row) => [row.createdAt.getTime(), row.id])
    },
  }
}

// The statements about runs that are executed often: building one costs several times more than running it.

/** Call it once per connection. `write` and `writeOnce` change nothing for an attempt that is no longer the current one. */
function prepareRunStatements({ read, tables }: Database) {
  const { runs, users } = tables
  const unfinishedOfUser = fromUnfinishedOfUser(tables)
  const active = read
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.conversationId, sql.placeholder('conversationId')),
        // Exactly the condition of the partial unique index, so that it is used and there are at most two rows.
        sql`${runs.kind} = 'chat' and ${runs.endedAt} is null`,
      ),
    )
    .orderBy(asc(runs.beside))
    .limit(1)
    .prepare('active run')
  const unfinished = read
    .select({ count: countAll })
    .from(unfinishedOfUser)
    .where(and(eq(runs.userId, sql.placeholder('userId')), isNull(runs.endedAt)))
    .prepare('unfinished runs')
  const insert = prepareOnEach((tx) =>
    tx
      .insert(runs)
      .select(
        sql`select ${valuesOf(runs, '', {
          beside: (asked) =>
            sql`(${asked} and ${isFirstTaken(tables, sql.placeholder('conversationId'))})`,
        })}
          where exists (select 1 from ${users}
              where ${users.id} = ${sql.placeholder('userId')} and ${users.isActive})
            and (select count(*) from ${unfinishedOfUser}
              where ${runs.userId} = ${sql.placeholder('userId')} and ${runs.endedAt} is null) < ${sql.placeholder('limit')}
            and not exists (select 1 from ${otherRuns(tables)} where ${isInTheWay({
              kind: sql.placeholder('kind'),
              conversationId: sql.placeholder('conversationId'),
              beside: sql`${sql.param(sql.placeholder('beside'), runs.beside)}`,
              userMessageId: sql.placeholder('userMessageId'),
            })})`,
      )
      .onConflictDoNothing({ target: runs.id })
      .returning({ beside: runs.beside })
      .prepare('insert run'),
  )
  const currentAttempt = and(
    eq(runs.id, sql.placeholder('attemptedRun')),
    eq(runs.attempt, sql.placeholder('currentAttempt')),
    isNull(runs.endedAt),
  )
  const write = prepareUpdates('write run', runs, (tx, set, name) =>
    tx.update(runs).set(set).where(currentAttempt).returning({ id: runs.id }).prepare(name),
  )
  const writeOnce = prepareUpdates('write run once', runs, (tx, set, name) =>
    tx
      .update(runs)
      .set(set)
      .where(and(currentAttempt, lt(runs.revision, sql.placeholder('newRevision'))))
      .returning({ id: runs.id })
      .prepare(name),
  )
  return { active, unfinished, insert, write, writeOnce }
}

/** A row of `runs`. */
export type RunRow = Database['tables']['runs']['$inferSelect']
/** A new row of `runs`. */
export type NewRun = Database['tables']['runs']['$inferInsert']

/** No limit of unfinished runs. */
const UNLIMITED = 2 ** 31 - 1

/** What is executed often, prepared once per connection. */
function createFrequentStatements(database: Database) {
  const { runs } = database.tables
  const statements = prepareRunStatements(database)

  return {
    /**
     * Inserts a new run. Returns undefined, and changes nothing, when it is stored already, when its user has been disabled, or
     * has `limit` unfinished runs, or when another run is in the way (`findInTheWay`). No other transaction adds a run of this
     * user before this one ends, so call it before anything else is locked.
     * @param run `beside`: whether it may be active at the same time as another answer to its question. The returned `beside`
     * says whether it is the second of them.
     * @throws the database's unique violation when the conversation has as many active runs as it may.
     */
    async insert(
      tx: Writer,
      run: RunRow,
      limit = UNLIMITED,
    ): Promise<Pick<RunRow, 'beside'> | undefined> {
      const locked = tx.lock(`runs of ${run.userId}`)
      const [[inserted]] = await Promise.all([
        statements.insert(tx).execute({ ...run, limit }),
        locked,
      ])
      return inserted
    },

    /**
     * Updates the run on behalf of an attempt.
     * @throws RunOver when it may no longer write; let the transaction fail with it.
     */
    async write(tx: Writer, { id, attempt }: RunAttempt, patch: Partial<NewRun>): Promise<void> {
      const values = { ...patch, attemptedRun: id, currentAttempt: attempt }
      const written = await statements.write(tx, patch).execute(values)
      if (written.length === 0) throw new RunOver()
    },

    /**
     * Like `write`, for a write that must take effect exactly once. Returns false, and changes nothing, when this revision
     * is already stored: the transaction was committed and only its confirmation was lost.
     * @throws RunOver as `write` does.
     */
    async writeOnce(
      tx: Writer,
      { id, attempt }: RunAttempt,
      revision: number,
      patch: Partial<NewRun>,
    ): Promise<boolean> {
      const revised = { ...patch, revision }
      const values = {
        ...revised,
        attemptedRun: id,
        currentAttempt: attempt,
        newRevision: revision,
      }
      const written = await statements.writeOnce(tx, revised).execute(values)
      if (written.length > 0) return true
      const [row] = await tx
        .select({ attempt: runs.attempt, revision: runs.revision })
        .from(runs)
        .where(eq(runs.id, id))
      if (row?.attempt === attempt && row.revision >= revision) return false
      throw new RunOver()
    },

    /** The active run of the conversation, except background tasks; of two answers beside each other, one. */
    async findActive(conversationId: ConversationId): Promise<RunRow | undefined> {
      const [row] = await statements.active.execute({ conversationId })
      return row
    },

    async countUnfinished(userId: UserId): Promise<number> {
      const [row] = await statements.unfinished.execute({ userId })
      return row?.count ?? 0
    },
  }
}

/** How a run is locked, claimed, stopped, ended and resumed. */
function createRunTransitions(database: Database) {
  const { runs } = database.tables
  /** Checks and updates in one statement, so that nothing is written to a run that has ended. */
  async function updateActive(
    tx: Writer,
    id: RunId,
    patch: Parameters<ReturnType<Writer['update']>['set']>[0],
    condition?: SQL,
  ): Promise<RunRow | undefined> {
    const [row] = await tx
      .update(runs)
      .set(patch)
      .where(and(eq(runs.id, id), isNull(runs.endedAt), condition))
      .returning()
    return row
  }

  return {
    /** Locks and returns the run if it is active: no other transaction changes or ends it before this one ends. */
    lockActive: (tx: Writer, id: RunId) =>
      updateActive(tx, id, { stopRequested: sql`${runs.stopRequested}` }),

    /** Locks and returns the run on behalf of an attempt. @throws RunOver when it may no longer write. */
    async lockAttempt(tx: Writer, { id, attempt }: RunAttempt): Promise<void> {
      const locked = await tx
        .update(runs)
        .set({ stopRequested: sql`${runs.stopRequested}` })
        .where(and(eq(runs.id, id), eq(runs.attempt, attempt), isNull(runs.endedAt)))
        .returning({ id: runs.id })
      assertWritten(locked)
    },

    /**
     * Begins another attempt at an active run, or the first at a queued one; earlier ones may no longer write. Undefined
     * when it has ended, or when a newer version of the program began or continued it.
     * @param isShared whether other instances perform runs: then undefined also when another living one holds the run.
     */
    claim: (tx: Writer, id: RunId, owner: string, isShared = false) => {
      const isQueued = sql`case when ${runs.status} = 'queued' then 0 else 1 end`
      const claimed = {
        owner,
        version: RUN_VERSION,
        attempt: sql`${runs.attempt} + ${isQueued}`,
        failedAttempts: sql`${runs.failedAttempts} + ${isQueued}`,
        status: sql`case when ${runs.status} = 'queued' then 'running' else ${runs.status} end`,
      }
      const isKnown = lte(runs.version, RUN_VERSION)
      return updateActive(
        tx,
        id,
        claimed,
        isShared ? and(isKnown, isUnheld(database, owner)) : isKnown,
      )
    },

    /** Ends a run that no process performs, and the right of its attempt to write; undefined when it has already ended. */
    end: (
      tx: Writer,
      id: RunId,
      patch: Partial<NewRun> & { endedAt: Date },
      /** With several instances, the id of this one; the run is then left alone if another living instance holds it. */
      instance?: string,
    ) =>
      updateActive(
        tx,
        id,
        { ...patch, attempt: sql`${runs.attempt} + 1` },
        instance === undefined ? undefined : isUnheld(database, instance),
      ),

    /** Asks the process that performs the run, now or after a restart, to end it. */
    requestStop: (tx: Writer, id: RunId, cause: StopCause) =>
      updateActive(tx, id, {
        stopRequested: true,
        // The first counts, as in the process that performs the run.
        stopCause: sql`coalesce(${runs.stopCause}, ${cause})`,
      }),

    /**
     * Reactivates a run that has ended, if need be beside another answer to its question; undefined when it is active, has
     * nothing left to do, or does not exist.
     * @throws the database's unique violation when its conversation has as many active runs as it may.
     */
    async reopen(tx: Writer, id: RunId, patch: Partial<NewRun>): Promise<RunRow | undefined> {
      const [row] = await tx
        .update(runs)
        .set({
          ...patch,
          endedAt: null,
          stopRequested: false,
          stopCause: null,
          failedAttempts: 0,
          beside: isFirstTaken(database.tables, sql`${runs}.conversation_id`),
        })
        .where(and(eq(runs.id, id), canResume(database.tables)))
        .returning()
      return row
    },
  }
}

/** Finds single runs. */
function createRunFinder(database: Database) {
  const { conversations, messages, runs } = database.tables
  async function findOne(where: ReturnType<typeof and>): Promise<RunRow | undefined> {
    const rows = await database.read.select().from(runs).where(where).limit(1)
    return rows[0]
  }

  return {
    find: (id: RunId) => findOne(eq(runs.id, id)),

    /** As the open transaction sees it. */
    async findIn(tx: Writer, id: RunId): Promise<RunRow | undefined> {
      const rows = await tx.select().from(runs).where(eq(runs.id, id)).limit(1)
      return rows[0]
    },

    /** Undefined also for a run whose answer or conversation was deleted. */
    findOwned: (userId: UserId, id: RunId) =>
      findOne(
        and(
          eq(runs.id, id),
          eq(runs.userId, userId),
          sql`not exists (select 1 from ${messages} where ${messages.id} = ${runs.messageId} and ${messages.deletedAt} is not null)`,
          sql`not exists (select 1 from ${conversations} where ${conversations.id} = ${runs.conversationId} and ${conversations.deletedAt} is not null)`,
        ),
      ),

    findByClientId: (conversationId: ConversationId, clientId: string) =>
      findOne(and(eq(runs.conversationId, conversationId), eq(runs.clientId, clientId))),

    /** The run that writes this answer, if any. */
    findByMessage: (conversationId: ConversationId, messageId: MessageId) =>
      findOne(and(eq(runs.conversationId, conversationId), eq(runs.messageId, messageId))),

    /**
     * An active run that keeps this run from starting or continuing, as the open transaction sees it.
     * @param run `beside`: whether it may be active at the same time as another answer to its question.
     */
    async findInTheWay(
      tx: Writer,
      run: Pick<RunRow, 'kind' | 'conversationId' | 'beside' | 'userMessageId'>,
    ): Promise<RunId | undefined> {
      const starting = {
        kind: sql`${run.kind}`,
        conversationId: sql`${run.conversationId}`,
        beside: sql`${sql.param(run.beside, runs.beside)}`,
        userMessageId: sql`${run.userMessageId}`,
      }
      const [found] = await tx
        .select({ id: sql<RunId>`other.id` })
        .from(otherRuns(database.tables))
        .where(isInTheWay(starting))
        .limit(1)
      return found?.id
    },
  }
}

/** Rows of runs, with their approval requests and background tasks. */
export function createRunRepository(database: Database) {
  const { runs } = database.tables
  return {
    ...createFrequentStatements(database),
    ...createRunTransitions(database),
    ...createRunFinder(database),

    ...createApprovals(database),
    ...createBackgroundRuns(database),
    ...createRunList(database),

    /**
     * The same inside a transaction that adds a run: no other transaction adds a run of this user before it ends, so the count
     * stays valid. Call it before anything else is locked.
     */
    async lockUnfinished(tx: Writer, userId: UserId): Promise<number> {
      await tx.lock(`runs of ${userId}`)
      const [row] = await tx
        .select({ count: countAll })
        .from(fromUnfinishedOfUser(database.tables))
        .where(and(eq(runs.userId, userId), isNull(runs.endedAt)))
      return row?.count ?? 0
    },

    /** Whether a run of any kind in the conversation has not ended. */
    async isAnyUnfinished(conversationId: ConversationId): Promise<boolean> {
      const found = await database.read
        .select({ id: runs.id })
        .from(runs)
        .where(and(eq(runs.conversationId, conversationId), isNull(runs.endedAt)))
        .limit(1)
      return found.length > 0
    },

    /** Whether the conversation has an active run, except background tasks, as the open transaction sees it. */
    async hasActive(tx: Writer, conversationId: ConversationId): Promise<boolean> {
      const found = await tx
        .select({ id: runs.id })
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            sql`${runs.kind} = 'chat' and ${runs.endedAt} is null`,
          ),
        )
        .limit(1)
      return found.length > 0
    },

    /** All active runs, oldest first; a starting server resumes or ends them. */
    async unfinished(): Promise<RunRow[]> {
      return await database.read
        .select()
        .from(runs)
        .where(isNull(runs.endedAt))
        .orderBy(asc(runs.createdAt), asc(runs.id))
    },
  }
}

// Which runs that have ended can be resumed. All others, and the answers they wrote, never change again.

/** Finish reasons of runs that are completed but have more to do. */
const LIMITS: readonly FinishReason[] = ['length', 'max_iterations', 'budget']

type RunEnd = Pick<Tables['runs']['$inferSelect'], 'status' | 'finishReason' | 'endedAt'> &
  Partial<Pick<Tables['runs']['$inferSelect'], 'reachedLimit'>>

/** Whether the run has ended and can be resumed. Without its limit, one that only went beyond it at its end counts, too. */
export const isResumable = ({ status, finishReason, endedAt, reachedLimit }: RunEnd): boolean =>
  endedAt !== null &&
  reachedLimit?.complete !== true &&
  (status !== 'completed' || (finishReason !== null && LIMITS.includes(finishReason)))

/** `isResumable` without the limit, as a condition of a statement. */
const canResume = ({ runs }: Pick<Tables, 'runs'>): SQL | undefined =>
  and(
    isNotNull(runs.endedAt),
    or(ne(runs.status, 'completed'), inArray(runs.finishReason, [...LIMITS])),
  )

// The fence of a run: which attempt may write, as a condition of the statement that writes.

/** One attempt at a run: it may write until it ends the run, another instance does, or a later attempt begins. */
export type RunAttempt = { id: RunId; attempt: number }

/** Thrown when an attempt may no longer write: its run has ended, was deleted, or a later attempt has begun. */
export class RunOver extends Error {
  constructor() {
    super('This attempt of the run may no longer write.')
    this.name = 'RunOver'
  }
}

/**
 * A condition for a statement that writes on behalf of an attempt. It locks the run until the transaction ends, so that a
 * later attempt begins either before the statement, which then writes nothing, or after its transaction is stored. (SQLite
 * has one writer at a time.)
 */
export const createAttemptFence = ({
  dialect,
  tables: { runs },
}: Pick<Database, 'dialect' | 'tables'>) => {
  const lock = sql.raw(dialect === 'postgres' ? ' for no key update' : '')
  return (id: RunId | Placeholder, attempt: number | Placeholder): SQL =>
    sql`exists (select 1 from ${runs} where ${runs.id} = ${id} and ${runs.attempt} = ${attempt}${lock})`
}

/** @throws RunOver when a fenced statement has written nothing. */
export function assertWritten(rows: readonly unknown[]): void {
  if (rows.length === 0) throw new RunOver()
}
