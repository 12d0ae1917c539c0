// Push notifications on the wire: what a browser subscribes with, and what it receives.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ConversationId, RunId } from '../ids.ts'
import { ReceiptCounts } from '../runs/receipt.ts'

/** A browser's subscription, as `PushSubscription.toJSON()` gives it. */
export const PushSubscriptionBody = z
  .object({
    /** The URL at which the browser's vendor accepts messages for it. */
    endpoint: z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL' }).max(1_000),
    keys: z.object({
      /** An uncompressed point of P-256, base64url. */
      p256dh: z.string().regex(/^B[A-Za-z0-9_-]{86}=?$/, { error: 'not a subscription key' }),
      /** 16 bytes, base64url. */
      auth: z.string().regex(/^[A-Za-z0-9_-]{22}(==)?$/, { error: 'not a subscription secret' }),
    }),
  })
  .meta({ id: 'PushSubscription' })
export type PushSubscriptionBody = z.infer<typeof PushSubscriptionBody>

export const PushSettings = z
  .object({
    /** The key that browsers subscribe with (`applicationServerKey`), base64url. */
    public_key: z.string(),
  })
  .meta({ id: 'PushSettings' })

export const StoredPushSubscription = z
  .object({ id: z.string() })
  .meta({ id: 'StoredPushSubscription' })

/** A notification about a run. It reveals nothing of the conversation, because others may see the screen. */
const RunNotice = z.object({
  type: z.enum(['answer_ready', 'answer_failed', 'waiting']),
  run_id: RunId,
  conversation_id: ConversationId,
  /** Of the first tool call that waits for a decision. */
  approval_id: z.string().optional(),
  call_hash: z.string().optional(),
  deadline: Timestamp.nullable().optional(),
  /** The receiver decides for somebody else, and cannot open the conversation. */
  approver: z.boolean().optional(),
  /** With `answer_ready`: what the answer did, in numbers. Absent: it called no tools. */
  receipt: ReceiptCounts.optional(),
})

/** A notification about a scheduled task that did not run: it was missed or skipped, or could not begin. */
const ScheduleNotice = z.object({
  type: z.literal('schedule_not_run'),
  schedule_id: z.string(),
  occurrence_id: z.string(),
})

/** The content of a notification. */
export const PushNotice = z.union([RunNotice, ScheduleNotice])
export type RunNotice = z.infer<typeof RunNotice>
export type ScheduleNotice = z.infer<typeof ScheduleNotice>
export type PushNotice = z.infer<typeof PushNotice>
