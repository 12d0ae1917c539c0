// The events that webhooks receive: their kinds, their contents, and how they enter the outbox.
import { LRUCache } from 'lru-cache'
import type { Writer } from '../db/database.ts'
import type { WebhookRepository } from '../db/repositories/deliveries/webhooks.ts'
import { errorText } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { atMost } from '../lib/lru-limit.ts'
import type { ErrorParams } from '../protocol/error.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import type { WebhookEventType } from '../protocol/programs/webhook.ts'
import type { Usage } from '../protocol/runs/usage.ts'

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

/** For users without webhooks, every method returns at once. */
export interface WebhookEvents {
  /** Call it in the transaction that ends the run. */
  runEnded(
    tx: Writer,
    run: EventRun,
    end: {
      status: string
      finishReason: string | null
      /** Why the run failed; null if it did not. */
      error: string | null
      usage: Usage | null
      endedAt: Date
    },
  ): Promise<void>
  /** Call it in the transaction that stores the request. */
  approvalRequired(
    tx: Writer,
    run: Omit<EventRun, 'kind' | 'model'>,
    call: { id: string; name: string; riskLevel: string; createdAt: Date },
  ): Promise<void>
  /**
   * Call it when a limit is reached, so that the user's requests are refused until it is renewed. Reported once per limit
   * and period.
   */
  quotaReached(
    userId: UserId,
    refusal: { reason: string; message: string; params?: ErrorParams | undefined },
  ): void
}

/**
 * Events are stored in the transaction of what they report. If too many are already waiting, the event is dropped with a
 * warning.
 */
export function createWebhookEvents({
  repository,
  mayHaveWebhooks,
  now,
  log,
  write,
}: {
  repository: Pick<WebhookRepository, 'enqueue'>
  mayHaveWebhooks(userId: UserId): boolean
  now(): Date
  log: { warn(details: object, message: string): void }
  write(work: (tx: Writer) => Promise<void>): Promise<void>
}): WebhookEvents {
  /** Prevents a write for each refusal if a program calls again and again. */
  const known = new LRUCache<string, true>(atMost(MAX_KNOWN_LIMITS))

  async function store(
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
    const full = await repository.enqueue(
      tx,
      userId,
      ({ isActive, events }) => isActive && events.includes(type),
      ({ id: webhookId }) =>
        newDelivery({ userId, webhookId, event: type, occurrence, content, at: now() }),
      MAX_PENDING,
    )
    if (full > 0)
      log.warn(
        { user_id: userId, event: type },
        'an event was dropped: too many wait for a webhook',
      )
  }

  return {
    async runEnded(tx, run, end) {
      if (!mayHaveWebhooks(run.userId)) return
      await store(tx, run.userId, {
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
        },
      })
    },

    async approvalRequired(tx, run, call) {
      if (!mayHaveWebhooks(run.userId)) return
      await store(tx, run.userId, {
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
    },

    quotaReached(userId, { reason, message, params = {} }) {
      if (!mayHaveWebhooks(userId)) return
      const occurrence = [reason, params.group, params.limit, params.renews_at].join(' ')
      const key = `${userId} ${occurrence}`
      if (known.has(key)) return
      known.set(key, true)
      const data = { error: reason, message, ...params }
      const event = { type: 'quota.reached', occurrence, at: now(), data } as const
      write((tx) => store(tx, userId, event)).catch((error: unknown) => {
        known.delete(key)
        log.warn({ cause: errorText(error) }, 'a reached quota could not be reported')
      })
    },
  }
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
