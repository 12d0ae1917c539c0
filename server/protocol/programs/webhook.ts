// Webhooks on the wire: events that are sent to other programs.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { DeliveryStatus } from './channel.ts'

/** An event that a webhook can subscribe to. */
export const WebhookEventType = z.enum([
  'run.ended',
  'approval.required',
  'approval.decided',
  'quota.reached',
  'schedule.ended',
])
export type WebhookEventType = z.infer<typeof WebhookEventType>

const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'an http:// or https:// URL' })
  .max(2_000)
  .refine((url) => !url.includes('@') || new URL(url).username === '', {
    error: 'a URL without a user name and password',
  })
const WebhookEvents = z
  .array(WebhookEventType)
  .min(1)
  .max(20)
  .transform((events) => [...new Set(events)])

export const CreateWebhookBody = z
  .object({ url: WebhookUrl, events: WebhookEvents })
  .meta({ id: 'CreateWebhook' })

/** An absent field stays unchanged. */
export const PatchWebhookBody = z
  .object({
    url: WebhookUrl.optional(),
    events: WebhookEvents.optional(),
    is_active: z.boolean().optional(),
  })
  .meta({ id: 'PatchWebhook' })

/** Maximum number of hours during which requests also carry the signature of the replaced secret. */
const MAX_OVERLAP_HOURS = 168
export const ReplaceWebhookSecretBody = z
  .object({
    /** Use 0 if somebody else may know the old secret. */
    overlap_hours: z.int().min(0).max(MAX_OVERLAP_HOURS).default(24),
  })
  .meta({ id: 'ReplaceWebhookSecret' })

/** One event that was, or will be, sent to a webhook. */
export const WebhookDelivery = z
  .object({
    /** The `webhook-id` that the receiver gets. */
    id: z.string(),
    event: z.string(),
    status: DeliveryStatus,
    attempts: z.int(),
    error: z.string().nullable(),
    /** The machine-readable reason of `error`, as in error responses. */
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
    next_attempt_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

/** An address that receives signed requests about events, without its secret. */
export const Webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(WebhookEventType),
    /** Whether events are sent. A webhook whose receiver responds with 410 becomes inactive. */
    is_active: z.boolean(),
    /** Until then, requests also carry the signature of the replaced secret; null if there is none. */
    earlier_secret_until: Timestamp.nullable(),
    last_delivery: WebhookDelivery.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof Webhook>

/** A new webhook with its secret, which no later response contains. */
export const CreatedWebhook = Webhook.extend({
  /** `whsec_…`, returned only once. */
  secret: z.string(),
}).meta({ id: 'CreatedWebhook' })
export type CreatedWebhook = z.infer<typeof CreatedWebhook>
