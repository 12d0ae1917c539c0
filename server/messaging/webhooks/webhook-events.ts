// The events that webhooks receive: their kinds, their contents, and how they enter the outbox.

import { LRUCache } from 'lru-cache'
import type { Writer } from '../../db/database.ts'
import type { WebhookRepository } from '../../db/repositories/deliveries/webhooks.ts'
import { errorText } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import { atMost } from '../../lib/lru-limit.ts'
import type { ErrorParams } from '../../protocol/error.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../protocol/ids.ts'
import type { WebhookEventType } from '../../protocol/programs/webhook.ts'
import type { ReceiptCounts } from '../../protocol/runs/receipt.ts'
import type { Usage } from '../../protocol/runs/usage.ts'
import type { EndedOccurrence } from '../../protocol/schedules/schedule.ts'

/** Maximum number of deliveries that wait for one webhook. Further events are not sent to it. */
const MAX_PENDING = 1_000
const MAX_KNOWN_LIMITS = 10_000

interface EventRun {
  id: RunId
  userId: UserId
  conversationId: ConversationId
  messageId: MessageId
  attempt: number
  kind: string
  model: string
}

/** How a run ended. */
interface RunEnd {
  status: string
  finishReason: string | null
  /** Why the run failed; null if it did not. */
  error: string | null
  usage: Usage | null
  /** What the answer did; null for a run that failed outside of its loop. */
  receipt: ReceiptCounts | null
  endedAt: Date
}

/** A request for approval that has been decided, or has become void. */
interface DecidedRequest {
  id: string
  state: string
  through: string | null
  decidedAt: Date
}

/** For users without webhooks, every method returns at once. */
export interface WebhookEvents {
  /** Call it in the transaction that ends the run. */
  runEnded(tx: Writer, run: EventRun, end: RunEnd): Promise<void>
  /** Call it in the transaction that stores the request. */
  approvalRequired(
    tx: Writer,
    run: Omit<EventRun, 'kind' | 'model'>,
    call: { id: string; name: string; riskLevel: string; createdAt: Date },
  ): Promise<void>
  /** Call it in the transaction that decides the request or makes it void. */
  approvalDecided(
    tx: Writer,
    run: Pick<EventRun, 'id' | 'userId'>,
    request: DecidedRequest,
  ): Promise<void>
  /** Call it in the transaction that ends the occurrence. */
  scheduleEnded(tx: Writer, userId: UserId, ended: EndedOccurrence): Promise<void>
  /**
   * Call it when a limit is reached, so that the user's requests are refused until it is renewed. Reported once per limit
   * and period.
   */
  quotaReached(
    userId: UserId,
    refusal: { reason: string; message: string; params?: ErrorParams | undefined },
  ): void
}

/** What events are stored with. */
interface EventsOptions {
  repository: Pick<WebhookRepository, 'enqueue'>
  /** Who may have webhooks. */
  users: Pick<ReadonlySet<UserId>, 'has'>
  now(): Date
  log: { warn(details: object, message: string): void }
  write(work: (tx: Writer) => Promise<void>): Promise<void>
}

/** What events are stored with. */
interface EventsState extends EventsOptions {
  /** Prevents a write for each refusal if a program calls again and again. */
  readonly known: LRUCache<string, true, unknown>
}

/**
 * Events are stored in the transaction of what they report. If too many are already waiting, the event is dropped with a
 * warning.
 */
export function createWebhookEvents(options: EventsOptions): WebhookEvents {
  const events: EventsState = {
    ...options,
    known: new LRUCache<string, true>(atMost(MAX_KNOWN_LIMITS)),
  }
  return {
    runEnded: (tx, run, end) => runEnded(events, tx, run, end),

    approvalRequired: (tx, run, call) => approvalRequired(events, tx, run, call),

    approvalDecided: (tx, run, request) => approvalDecided(events, tx, run, request),

    scheduleEnded: (tx, userId, ended) => scheduleEnded(events, tx, userId, ended),
    quotaReached: (userId, refusal) => quotaReached(events, userId, refusal),
  }
}

async function store(
  events: EventsState,
  tx: Writer,
  userId: UserId,
  {
    type,
    occurrence,
    at,
    data,
  }: { type: WebhookEventType; occurrence: string; at: Date; data: object },
): Promise<void> {
  const content = JSON.stringify({ type, timestamp: at.toISOString(), data })
  const full = await events.repository.enqueue(
    tx,
    userId,
    ({ isActive, events }) => isActive && events.includes(type),
    ({ id: webhookId }) =>
      newDelivery({ userId, webhookId, event: type, occurrence, content, at: events.now() }),
    MAX_PENDING,
  )
  if (full > 0)
    events.log.warn(
      { user_id: userId, event: type },
      'an event was dropped: too many wait for a webhook',
    )
}

async function runEnded(
  events: EventsState,
  tx: Writer,
  run: EventRun,
  end: RunEnd,
): Promise<void> {
  if (!events.users.has(run.userId)) return
  await store(events, tx, run.userId, {
    type: 'run.ended',
    occurrence: `${run.id} ended ${run.attempt}`,
    at: end.endedAt,
    data: {
      run_id: run.id,
      conversation_id: run.conversationId,
      message_id: run.messageId,
      kind: run.kind,
      model: run.model,
      status: end.status,
      finish_reason: end.finishReason,
      error: end.error,
      usage: end.usage,
      receipt: end.receipt,
    },
  })
}

async function approvalRequired(
  events: EventsState,
  tx: Writer,
  run: Omit<EventRun, 'kind' | 'model'>,
  call: { id: string; name: string; riskLevel: string; createdAt: Date },
): Promise<void> {
  if (!events.users.has(run.userId)) return
  await store(events, tx, run.userId, {
    type: 'approval.required',
    occurrence: `${run.id} approval ${call.id}`,
    at: call.createdAt,
    data: {
      run_id: run.id,
      conversation_id: run.conversationId,
      message_id: run.messageId,
      id_ref: call.id,
      name: call.name,
      risk_level: call.riskLevel,
    },
  })
}

async function scheduleEnded(
  events: EventsState,
  tx: Writer,
  userId: UserId,
  { scheduleId, occurrenceId, state, runId, at }: EndedOccurrence,
): Promise<void> {
  if (!events.users.has(userId)) return
  await store(events, tx, userId, {
    type: 'schedule.ended',
    occurrence: `${occurrenceId} ended`,
    at,
    data: { schedule_id: scheduleId, occurrence_id: occurrenceId, state, run_id: runId },
  })
}

async function approvalDecided(
  events: EventsState,
  tx: Writer,
  run: Pick<EventRun, 'id' | 'userId'>,
  { id, state, through, decidedAt }: DecidedRequest,
): Promise<void> {
  if (!events.users.has(run.userId)) return
  await store(events, tx, run.userId, {
    type: 'approval.decided',
    occurrence: `${id} ${state} ${decidedAt.getTime()}`,
    at: decidedAt,
    data: { approval_id: id, run_id: run.id, state, decided_through: through },
  })
}

function quotaReached(
  events: EventsState,
  userId: UserId,
  {
    reason,
    message,
    params = {},
  }: { reason: string; message: string; params?: ErrorParams | undefined },
): void {
  if (!events.users.has(userId)) return
  const occurrence = [reason, params.group, params.limit, params.renews_at].join(' ')
  const key = `${userId} ${occurrence}`
  if (events.known.has(key)) return
  events.known.set(key, true)
  const data = { error: reason, message, ...params }
  const event = { type: 'quota.reached', occurrence, at: events.now(), data } as const
  events
    .write((tx) => store(events, tx, userId, event))
    .catch((error: unknown) => {
      events.known.delete(key)
      events.log.warn({ cause: errorText(error) }, 'a reached quota could not be reported')
    })
}

/** A delivery that is due now. */
export const newDelivery = ({
  userId,
  webhookId,
  event,
  occurrence,
  content,
  at,
}: {
  userId: UserId
  webhookId: string
  event: string
  occurrence: string
  content: string
  at: Date
}) => ({
  id: newId<string>(),
  userId,
  webhookId,
  event,
  occurrence,
  content,
  status: 'pending' as const,
  attempts: 0,
  nextAttemptAt: at,
  lastError: null,
  lastFailure: null,
  createdAt: at,
})
