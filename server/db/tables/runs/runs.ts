// Tables of runs and of the events of their sub-agents.
import { sql } from 'drizzle-orm'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../../../protocol/ids.ts'
import type { CallOutcome } from '../../../protocol/runs/call-outcome.ts'
import type { RunFailure, RunStatus } from '../../../protocol/runs/run.ts'
import type { FinishReason, ReachedLimit } from '../../../protocol/runs/run-event.ts'
import type { TimelineEntry } from '../../../protocol/runs/run-timeline.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineConversationTables } from '../conversations/conversations.ts'

/**
 * Why a run is to end, for whichever process performs it. `deleted`: its conversation or message is being deleted, or its user
 * lost access. `project_deleted`: its project is being deleted, but its conversation stays. `project_handed_over`: the folder of
 * its project is being moved to another account.
 */
export type StopCause = 'stopped' | 'deleted' | 'project_deleted' | 'project_handed_over'

type Conversations = Pick<ReturnType<typeof defineConversationTables>, 'conversations'>

/** Runs; the steps of their answers are those of their messages. */
const defineRuns = (c: Columns, { conversations }: Conversations) =>
  c.table(
    'runs',
    {
      id: c.key<RunId>('id').primaryKey(),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .notNull()
        .references(() => conversations.id, { onDelete: 'cascade' }),
      userId: c.key<UserId>('user_id').notNull(),
      projectId: c.key<ProjectId>('project_id'),
      messageId: c.key<MessageId>('message_id').notNull(),
      userMessageId: c.key<MessageId>('user_message_id'),
      parentRunId: c.key<RunId>('parent_run_id'),
      kind: c.choice<'chat' | 'background'>('kind').notNull(),
      /** Whether it began while another run of the conversation was answering the same question. */
      beside: c.boolean('beside').notNull().default(false),
      status: c.choice<RunStatus>('status').notNull(),
      model: c.text('model').notNull(),
      options: c.json<unknown>('options').notNull(),
      /** The client's id of the message that started the run: sending that message again joins this run. */
      clientId: c.text('client_id'),
      attempt: c.integer('attempt').notNull(),
      /** What a version of the program must know to continue it; see `RUN_VERSION`. */
      version: c.integer('version').notNull().default(0),
      /** Consecutive attempts that neither ended nor suspended the run, nor reached an approval request. */
      failedAttempts: c.integer('failed_attempts').notNull().default(0),
      /** The number of the attempt's last write, which identifies a write whose confirmation was lost. */
      revision: c.integer('revision').notNull().default(0),
      /** Completed iterations. */
      iteration: c.integer('iteration').notNull(),
      promptTokens: c.integer('prompt_tokens').notNull(),
      completionTokens: c.integer('completion_tokens').notNull(),
      /** The part of the prompt tokens that came from providers' caches. */
      cachedTokens: c.integer('cached_tokens').notNull().default(0),
      /** By currency; null for runs that ended before it was stored. */
      cost: c.json<Record<string, number>>('cost'),
      /** The timeline; null for runs that ended before timelines were stored. */
      timeline: c.json<readonly TimelineEntry[]>('timeline'),
      lastEvent: c.integer('last_event').notNull(),
      finishReason: c.choice<FinishReason>('finish_reason'),
      /** Set with the finish reason `budget`. */
      reachedLimit: c.json<ReachedLimit>('reached_limit'),
      error: c.json<RunFailure>('error'),
      state: c.json<unknown>('state'),
      /** The instance id of the process that performs the run. */
      owner: c.text('owner'),
      heartbeatAt: c.time('heartbeat_at'),
      stopRequested: c.boolean('stop_requested').notNull(),
      /** Why; null if the stop was requested before reasons were stored. */
      stopCause: c.choice<StopCause>('stop_cause'),
      createdAt: c.time('created_at').notNull(),
      startedAt: c.time('started_at'),
      endedAt: c.time('ended_at'),
    },
    (t) => [
      c
        .uniqueIndex('runs_one_active')
        .on(t.conversationId, t.beside)
        .where(sql`${t.kind} = 'chat' and ${t.endedAt} is null`),
      c.uniqueIndex('runs_client_id').on(t.conversationId, t.clientId),
      c.index('runs_unfinished').on(t.createdAt).where(sql`${t.endedAt} is null`),
      c.index('runs_user_unfinished').on(t.userId).where(sql`${t.endedAt} is null`),
      c.index('runs_user').on(t.userId, t.createdAt, t.id),
      c.index('runs_conversation').on(t.conversationId, t.createdAt),
      c.index('runs_project').on(t.projectId, t.userId).where(sql`${t.projectId} is not null`),
      c.index('runs_parent').on(t.parentRunId),
    ],
  )

/** The steps of a run's answer are those of its message. */
export function defineRunTables(c: Columns, { conversations }: Conversations) {
  const runs = defineRuns(c, { conversations })

  /** Events of the sub-agents of a running call, so that they continue after a restart. */
  const subAgentEvents = c.table(
    'sub_agent_events',
    {
      id: c.counter('id'),
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      callId: c.text('call_id').notNull(),
      /** Which of the call's sub-agents, from 0. */
      position: c.integer('position').notNull(),
      event: c.json<unknown>('event').notNull(),
    },
    (t) => [c.index('sub_agent_events_call').on(t.runId, t.callId, t.id)],
  )

  /** The calls of a run's sub-agents. Unlike their events, they stay when the run ends: its receipt counts them. */
  const nestedCalls = c.table(
    'nested_calls',
    {
      id: c.counter('id'),
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      /** The call of the answer that started the sub-agent. */
      callId: c.text('call_id').notNull(),
      /** Which of the call's sub-agents, from 0. */
      position: c.integer('position').notNull(),
      /** The id of the sub-agent's own call, unique within the sub-agent. */
      idRef: c.text('id_ref').notNull(),
      name: c.text('name').notNull(),
      /** As the model wrote them. */
      arguments: c.text('arguments').notNull(),
      /** Null until it has a result. */
      outcome: c.json<CallOutcome>('outcome'),
    },
    (t) => [c.uniqueIndex('nested_calls_call').on(t.runId, t.callId, t.position, t.idRef)],
  )

  return { runs, subAgentEvents, nestedCalls }
}
