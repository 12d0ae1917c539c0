// Calls of apps of MCP servers that are not among the steps of their answer yet, and what the apps say about their state.
import { and, asc, count, desc, eq, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import type { RunId } from '../../../protocol/ids.ts'
import { McpAppReference } from '../../../protocol/mcp-app.ts'
import { fieldsOf, parseJson } from '../../../protocol/read-json.ts'
import type { Database, Writer } from '../../database.ts'
import { artifactText, createStepRepository, type StepRow } from '../conversations/steps.ts'
import type { RunRow } from './runs.ts'

/** A row of `app_calls`: one call of an app. */
export type AppCallRow = Database['tables']['appCalls']['$inferSelect']
/** A row of `app_contexts`: what an app says about its state. */
export type AppContextRow = Database['tables']['appContexts']['$inferSelect']
type Key = Pick<AppCallRow, 'runId' | 'idRef'>

/** How a call ended. */
export type AppCallEnd = Pick<AppCallRow, 'content' | 'artifact' | 'skipped'> & { endedAt: Date }

/** Rows that one sweep looks at. */
const SWEPT_AT_ONCE = 200

/** Uses the tables `appCalls`, `appContexts`, `approvals`, `messages`, `runs` and `steps`. */
export function createAppCallRepository(database: Database) {
  const ofApp = stepsOfApps(database)
  return {
    ...callsOfApps(database, ofApp),
    ...callsInSteps(database),
    ...appsOfResults(database, ofApp),
    ...openAppCalls(database),
  }
}

/** Which steps are of apps. */
const stepsOfApps = ({ tables: { steps } }: Database) => eq(steps.origin, 'app')

type StepsOfApps = ReturnType<typeof stepsOfApps>

/** One call, from its request to its end. */
function callsOfApps(database: Database, ofApp: StepsOfApps) {
  const { read, tables } = database
  const { appCalls, runs, steps } = tables
  const isCall = ({ runId, idRef }: Key) =>
    and(eq(appCalls.runId, runId), eq(appCalls.idRef, idRef))

  return {
    async find(runId: RunId, idRef: string): Promise<AppCallRow | undefined> {
      const rows = await read.select().from(appCalls).where(isCall({ runId, idRef })).limit(1)
      return rows[0]
    },

    /** Locks the run, whether it has ended or not: its end and its resumption wait for the transaction. */
    async lockRun(tx: Writer, id: RunId): Promise<RunRow | undefined> {
      const rows = await tx
        .update(runs)
        .set({ stopRequested: sql`${runs.stopRequested}` })
        .where(eq(runs.id, id))
        .returning()
      return rows[0]
    },

    /** How many calls of apps an answer has: those without a result, and all. */
    async counts(
      tx: Writer,
      { id, messageId }: Pick<RunRow, 'id' | 'messageId'>,
    ): Promise<{ open: number; all: number }> {
      const [kept] = await tx
        .select({
          open: sql<number>`coalesce(sum(case when ${appCalls.endedAt} is null then 1 else 0 end), 0)`.mapWith(
            Number,
          ),
          all: count(),
        })
        .from(appCalls)
        .where(eq(appCalls.runId, id))
      const [stored] = await tx
        .select({ all: count() })
        .from(steps)
        .where(and(eq(steps.messageId, messageId), ofApp, eq(steps.type, 'tool_call')))
      return { open: kept?.open ?? 0, all: (kept?.all ?? 0) + (stored?.all ?? 0) }
    },

    async insert(tx: Writer, row: AppCallRow): Promise<void> {
      await tx.insert(appCalls).values(row)
    },

    /** Marks a call as waiting for a person instead of running. */
    async wait(tx: Writer, call: Key): Promise<void> {
      await tx.update(appCalls).set({ startedAt: null, owner: null }).where(isCall(call))
    },

    /** Marks a waiting call as running; undefined if it is no longer waiting. */
    async start(
      tx: Writer,
      call: Key,
      mark: { startedAt: Date; owner: string },
    ): Promise<AppCallRow | undefined> {
      const rows = await tx
        .update(appCalls)
        .set(mark)
        .where(and(isCall(call), isNull(appCalls.startedAt), isNull(appCalls.endedAt)))
        .returning()
      return rows[0]
    },

    async setGrant(tx: Writer, call: Key, grantId: string | null): Promise<void> {
      await tx.update(appCalls).set({ grantId }).where(isCall(call))
    },

    /** Stores how a call ended; false if it has already ended, or is not there any more. */
    async end(tx: Writer, call: Key, end: AppCallEnd): Promise<boolean> {
      const rows = await tx
        .update(appCalls)
        .set(end)
        .where(and(isCall(call), isNull(appCalls.endedAt)))
        .returning({ idRef: appCalls.idRef })
      return rows.length > 0
    },

    async remove(tx: Writer, call: Key): Promise<void> {
      await tx.delete(appCalls).where(isCall(call))
    },
  }
}

/** What becomes of calls in the steps of their run. */
function callsInSteps(database: Database) {
  const { tables } = database
  const { appCalls, messages, steps } = tables
  const stepRepository = createStepRepository(database)
  return {
    /**
     * Makes the calls of a run that have ended steps of its answer, each with its result, behind everything that is there.
     * Call it for an ended run under its lock, or in the transaction that ends it. Returns how many there were.
     */
    async moveToSteps(
      tx: Writer,
      { id, messageId, userId }: Pick<RunRow, 'id' | 'messageId' | 'userId'>,
    ): Promise<number> {
      const ended = await tx
        .select()
        .from(appCalls)
        .where(and(eq(appCalls.runId, id), isNotNull(appCalls.endedAt)))
        .orderBy(asc(appCalls.createdAt), asc(appCalls.idRef))
      if (ended.length === 0) return 0
      await tx.delete(appCalls).where(
        and(
          eq(appCalls.runId, id),
          inArray(
            appCalls.idRef,
            ended.map(({ idRef }) => idRef),
          ),
        ),
      )
      const [message] = await tx
        .select({ id: messages.id })
        .from(messages)
        .where(eq(messages.id, messageId))
      if (message === undefined) return 0
      const [place] = await tx
        .select({
          last: sql<number>`coalesce(max(${steps.position}), -1)`.mapWith(Number),
          // A call of the model without a result keeps the place of its result.
          open: sql<number>`coalesce(sum(case when ${steps.origin} is null and ${steps.type} = 'tool_call' then 1 when ${steps.origin} is null and ${steps.type} = 'tool_result' then -1 else 0 end), 0)`.mapWith(
            Number,
          ),
        })
        .from(steps)
        .where(eq(steps.messageId, messageId))
      let position = (place?.last ?? -1) + 1 + Math.max(0, place?.open ?? 0)
      for (const call of ended) {
        const shared = {
          messageId,
          idRef: call.idRef,
          name: call.name,
          closed: true,
          origin: 'app' as const,
        }
        await stepRepository.store(tx, userId, {
          ...shared,
          position,
          type: 'tool_call',
          content: call.arguments,
          skipped: false,
          startedAt: call.startedAt,
          grantId: call.grantId,
        })
        await stepRepository.store(tx, userId, {
          ...shared,
          position: position + 1,
          type: 'tool_result',
          content: call.content ?? '',
          skipped: call.skipped,
          artifact: call.artifact,
        })
        position += 2
      }
      return ended.length
    },
  }
}

/** The stored results that have an app. */
function appsOfResults(database: Database, ofApp: StepsOfApps) {
  const { read, tables } = database
  const { steps } = tables
  return {
    /** The result of a call that is among the steps; undefined if there is none. */
    async storedResult(
      { messageId }: Pick<RunRow, 'messageId'>,
      idRef: string,
    ): Promise<Pick<StepRow, 'content' | 'artifact' | 'skipped'> | undefined> {
      const [row] = await read
        .select({ content: steps.content, skipped: steps.skipped, artifact: steps.artifact })
        .from(steps)
        .where(
          and(
            eq(steps.messageId, messageId),
            ofApp,
            eq(steps.type, 'tool_result'),
            eq(steps.idRef, idRef),
          ),
        )
      return row
    },

    /** The app that shows the result of a call of this answer; undefined if there is none. */
    async appOf(
      { messageId }: Pick<RunRow, 'messageId'>,
      appRef: string,
    ): Promise<McpAppReference | undefined> {
      const [row] = await read
        .select({ artifact: artifactText(tables.steps) })
        .from(steps)
        .where(
          and(
            eq(steps.messageId, messageId),
            eq(steps.type, 'tool_result'),
            eq(steps.idRef, appRef),
            isNull(steps.origin),
          ),
        )
      return McpAppReference.safeParse(fieldsOf(parseJson(row?.artifact ?? '')).app).data
    },

    /** A call of this answer that has no result yet, with its tool; undefined if there is no such call. */
    async callWithoutResult(
      { messageId }: Pick<RunRow, 'messageId'>,
      idRef: string,
    ): Promise<{ name: string; startedAt: Date | null } | undefined> {
      const found = await read
        .select({ type: steps.type, name: steps.name, startedAt: steps.startedAt })
        .from(steps)
        .where(and(eq(steps.messageId, messageId), eq(steps.idRef, idRef), isNull(steps.origin)))
      if (found.some(({ type }) => type === 'tool_result')) return undefined
      const call = found.find(({ type }) => type === 'tool_call')
      return call?.name == null ? undefined : { name: call.name, startedAt: call.startedAt }
    },
  }
}

/** Calls that have not ended, and what apps say about their state. */
function openAppCalls(database: Database) {
  const { read, tables } = database
  const { appCalls, appContexts, approvals, messages, runs } = tables
  return {
    /** Calls without a result, oldest first, each with its approval request, if it has one. */
    async open(): Promise<{ call: AppCallRow; approval: typeof approvals.$inferSelect | null }[]> {
      return await read
        .select({ call: appCalls, approval: approvals })
        .from(appCalls)
        .leftJoin(
          approvals,
          and(eq(approvals.runId, appCalls.runId), eq(approvals.idRef, appCalls.idRef)),
        )
        .where(isNull(appCalls.endedAt))
        .orderBy(asc(appCalls.createdAt))
        .limit(SWEPT_AT_ONCE)
    },

    /** Calls that wait for a person, with their runs and whether their conversation or answer was deleted. */
    async waiting(): Promise<{ run: RunRow; idRef: string; isDeleted: boolean }[]> {
      const isDeleted = sql<boolean>`(exists (select 1 from ${tables.conversations} where ${tables.conversations.id} = ${runs.conversationId} and ${tables.conversations.deletedAt} is not null) or exists (select 1 from ${messages} where ${messages.id} = ${runs.messageId} and ${messages.deletedAt} is not null))`
      return await read
        .select({ run: runs, idRef: approvals.idRef, isDeleted: isDeleted.mapWith(Boolean) })
        .from(approvals)
        .innerJoin(runs, eq(runs.id, approvals.runId))
        .where(and(approvals.byApp, eq(approvals.status, 'pending')))
    },

    /** Ended runs of which calls with results are not among the steps. */
    async left(): Promise<RunRow[]> {
      const rows = await read
        .selectDistinct({ id: appCalls.runId })
        .from(appCalls)
        .innerJoin(runs, eq(runs.id, appCalls.runId))
        .where(and(isNotNull(appCalls.endedAt), isNotNull(runs.endedAt)))
        .limit(SWEPT_AT_ONCE)
      const ids = rows.map(({ id }) => id)
      return ids.length === 0 ? [] : await read.select().from(runs).where(inArray(runs.id, ids))
    },

    /** Replaces what an app says; an empty text removes it. */
    async setContext(tx: Writer, row: AppContextRow): Promise<void> {
      const { runId, appRef, ...change } = row
      if (row.text === '')
        await tx
          .delete(appContexts)
          .where(and(eq(appContexts.runId, runId), eq(appContexts.appRef, appRef)))
      else
        await tx
          .insert(appContexts)
          .values(row)
          .onConflictDoUpdate({ target: [appContexts.runId, appContexts.appRef], set: change })
    },

    /** What apps of these runs say, newest first. */
    async contexts(runIds: readonly RunId[], limit: number): Promise<AppContextRow[]> {
      if (runIds.length === 0) return []
      return await read
        .select()
        .from(appContexts)
        .where(and(inArray(appContexts.runId, [...runIds]), ne(appContexts.text, '')))
        .orderBy(desc(appContexts.updatedAt), asc(appContexts.appRef))
        .limit(limit)
    },
  }
}
