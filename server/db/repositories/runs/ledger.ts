// What is stored about one answer: its calls, requests, changes and deliveries, as receipts read them.
import { and, asc, eq, inArray, isNull, lt, ne, not, notInArray, or, sql } from 'drizzle-orm'
import { createTurns } from '../../../lib/turns.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../protocol/ids.ts'
import { parseJson } from '../../../protocol/read-json.ts'
import type { RequestState } from '../../../protocol/runs/approval.ts'
import {
  APPROVED_KEY,
  type CallOutcome,
  DETAILED_TOOLS,
  SUCCESS_BEGINS,
} from '../../../protocol/runs/call-outcome.ts'
import type { Database, Writer } from '../../database.ts'
import { beginsWith, contains } from '../../fragments.ts'
import type { CheckpointFile } from '../../tables/projects/checkpoints.ts'
import { artifactText } from '../conversations/steps.ts'

/** Stores and reads what receipts are computed from. */
export type LedgerRepository = ReturnType<typeof createLedgerRepository>

/** A call or a result of an answer, without what receipts do not need. */
export interface LedgerStep {
  type: 'tool_call' | 'tool_result'
  idRef: string
  name: string
  /** The arguments of a call, or the result for the model. */
  content: string
  skipped: boolean
  /** The grant that let a call through; null if none did. */
  grantId: string | null
  /** Of commands only. */
  artifact: unknown
}

/** A call of a sub-agent, in the order of the calls of each sub-agent. */
export interface NestedCall {
  /** The call of the answer that started the sub-agent. */
  callId: string
  position: number
  idRef: string
  name: string
  arguments: string
  outcome: CallOutcome | null
}

/** Pages of one checkpoint that are read; a program may change more files than a receipt can list. */
const MAX_FILES_OF_CHECKPOINT = 5_000
/** Changes of one answer that are read, in all its checkpoints. */
const MAX_CHANGES = 20_000
/** Pages of checkpoints that one query reads: drivers parse them in one piece. */
const PAGES_AT_ONCE = 20
/** `fileCount` of a checkpoint whose files are not all stored yet. */
const INCOMPLETE = -1

/** Uses the tables `messages`, `runs`, `steps`, `nestedCalls`, `approvals`, `checkpoints`, `deliveries`, `outgoingParts` and `grantUses`. */
export function createLedgerRepository(database: Pick<Database, 'read' | 'tables'>) {
  return {
    ...stepsOfRuns(database),
    ...nestedCallsOfRuns(database),
    ...effectsOfRuns(database),
  }
}

/** What a run did itself: its answer and its steps. */
function stepsOfRuns({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const { messages, runs, steps } = tables

  /**
   * Most results are long, and say in their first characters all that is needed: only what else is needed is read
   * (`outcomeOf`).
   */
  const neededContent = sql<string>`case
    when ${steps.type} = 'tool_result' and not ${steps.skipped} and ${notInArray(steps.name, [...DETAILED_TOOLS])}
      and ${beginsWith(steps.content, SUCCESS_BEGINS)} and not ${contains(steps.content, APPROVED_KEY)}
    then ${`${SUCCESS_BEGINS}}`} else ${steps.content} end`
  return {
    /** An answer with its run; undefined if the conversation has no such answer. `usage` is null without a run. */
    async answer(conversationId: ConversationId, id: MessageId) {
      const [found] = await read
        .select({
          runId: messages.runId,
          editedFrom: messages.editedFrom,
          receipt: messages.receipt,
          plan: messages.plan,
          citations: messages.citations,
          projectId: runs.projectId,
          endedAt: runs.endedAt,
          usage: {
            promptTokens: runs.promptTokens,
            completionTokens: runs.completionTokens,
            cachedTokens: runs.cachedTokens,
            cost: runs.cost,
          },
        })
        .from(messages)
        .leftJoin(runs, eq(runs.id, messages.runId))
        .where(
          and(
            eq(messages.id, id),
            eq(messages.conversationId, conversationId),
            eq(messages.role, 'assistant'),
            isNull(messages.deletedAt),
          ),
        )
      return found
    },

    /** The calls and results of an answer, in order. */
    async steps(messageId: MessageId): Promise<LedgerStep[]> {
      const rows = await read
        .select({
          type: steps.type,
          idRef: steps.idRef,
          name: steps.name,
          content: neededContent,
          skipped: steps.skipped,
          grantId: steps.grantId,
          artifact: sql<
            string | null
          >`case when ${steps.name} = 'exec' and ${steps.type} = 'tool_result' then ${artifactText(steps)} end`,
        })
        .from(steps)
        .where(
          and(
            eq(steps.messageId, messageId),
            or(eq(steps.type, 'tool_call'), eq(steps.type, 'tool_result')),
          ),
        )
        .orderBy(asc(steps.position))
      return rows.flatMap(({ type, idRef, name, content, skipped, grantId, artifact }) =>
        type === 'tool_call' || type === 'tool_result'
          ? [
              {
                type,
                idRef: idRef ?? '',
                name: name ?? '',
                content,
                skipped,
                grantId,
                artifact: artifact === null ? undefined : parseJson(artifact),
              },
            ]
          : [],
      )
    },
  }
}

/** The calls that programs make within a step. */
function nestedCallsOfRuns({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const { nestedCalls } = tables
  return {
    nestedCalls: (runId: RunId): Promise<NestedCall[]> =>
      read
        .select({
          callId: nestedCalls.callId,
          position: nestedCalls.position,
          idRef: nestedCalls.idRef,
          name: nestedCalls.name,
          arguments: nestedCalls.arguments,
          outcome: nestedCalls.outcome,
        })
        .from(nestedCalls)
        .where(eq(nestedCalls.runId, runId))
        .orderBy(asc(nestedCalls.position), asc(nestedCalls.id)),

    /** Stores calls that a sub-agent is about to make. A call that is already stored stays as it is. */
    async addNestedCalls(
      tx: Writer,
      runId: RunId,
      calls: readonly Omit<NestedCall, 'outcome'>[],
    ): Promise<void> {
      if (calls.length > 0)
        await tx
          .insert(nestedCalls)
          .values(calls.map((call) => ({ ...call, runId })))
          .onConflictDoNothing()
    },

    /** Stores how a call of a sub-agent ended. */
    async settleNestedCall(
      tx: Writer,
      runId: RunId,
      { callId, position, idRef }: Pick<NestedCall, 'callId' | 'position' | 'idRef'>,
      outcome: CallOutcome,
    ): Promise<void> {
      await tx
        .update(nestedCalls)
        .set({ outcome })
        .where(
          and(
            eq(nestedCalls.runId, runId),
            eq(nestedCalls.callId, callId),
            eq(nestedCalls.position, position),
            eq(nestedCalls.idRef, idRef),
          ),
        )
    },
  }
}

/** What came of it: requests, grants that were used, changed files, deliveries. */
function effectsOfRuns({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const {
    approvals,
    chats,
    checkpoints,
    checkpointFiles,
    deliveries,
    grantUses,
    outgoingParts: parts,
  } = tables
  return {
    /** The states of the approval requests of a run. */
    async requests(runId: RunId): Promise<RequestState[]> {
      const rows = await read
        .select({ status: approvals.status })
        .from(approvals)
        // What an app waits for is open also after the run.
        .where(
          and(
            eq(approvals.runId, runId),
            or(not(approvals.byApp), ne(approvals.status, 'pending')),
          ),
        )
      return rows.map(({ status }) => status)
    },

    /** The grants that calls of a run used, those of sub-agents included, as long as they exist. */
    async grantsUsed(runId: RunId): Promise<string[]> {
      const rows = await read
        .selectDistinct({ grantId: grantUses.grantId })
        .from(grantUses)
        .where(eq(grantUses.runId, runId))
        .orderBy(asc(grantUses.grantId))
      return rows.map(({ grantId }) => grantId)
    },

    /** What the answer changed in its project, in the order of the changes: the first ones if there are very many. */
    async changes(messageId: MessageId): Promise<(CheckpointFile & { checkpointId: string })[]> {
      const turn = createTurns()
      const changes: (CheckpointFile & { checkpointId: string })[] = []
      let last: { checkpointId: string; first: number } | undefined
      do {
        const pages = await read
          .select({
            checkpointId: checkpoints.id,
            first: checkpointFiles.first,
            files: checkpointFiles.files,
          })
          .from(checkpoints)
          .innerJoin(checkpointFiles, eq(checkpointFiles.checkpointId, checkpoints.id))
          .where(
            and(
              eq(checkpoints.messageId, messageId),
              ne(checkpoints.fileCount, INCOMPLETE),
              lt(checkpointFiles.first, MAX_FILES_OF_CHECKPOINT),
              last &&
                sql`(${checkpoints.id}, ${checkpointFiles.first}) > (${last.checkpointId}, ${last.first})`,
            ),
          )
          .orderBy(asc(checkpoints.id), asc(checkpointFiles.first))
          .limit(PAGES_AT_ONCE)
        for (const { checkpointId, files } of pages)
          for (const file of files) changes.push({ ...file, checkpointId })
        last = pages.length < PAGES_AT_ONCE ? undefined : pages.at(-1)
        await turn()
      } while (last !== undefined && changes.length < MAX_CHANGES)
      return changes.slice(0, MAX_CHANGES)
    },

    /** The states of deliveries of a user to channels, and of parts in chats, by id. */
    async deliveries(userId: UserId, ids: readonly string[]): Promise<Map<string, string>> {
      if (ids.length === 0) return new Map()
      const [toChannels, inChats] = await Promise.all([
        read
          .select({ id: deliveries.id, status: deliveries.status })
          .from(deliveries)
          .where(and(eq(deliveries.userId, userId), inArray(deliveries.id, [...ids]))),
        read
          .select({ id: parts.id, status: parts.status })
          .from(parts)
          .innerJoin(chats, eq(chats.id, parts.chatId))
          .where(and(eq(chats.userId, userId), inArray(parts.id, [...ids]))),
      ])
      return new Map([...toChannels, ...inChats].map(({ id, status }) => [id, status]))
    },
  }
}
