// Channels on the wire: external destinations of the `message` tool.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'

/** Models write it after `channel:`, so it has no spaces. */
export const ChannelName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,49}$/u, {
  error: 'a name of up to 50 letters, digits, ., _ and -, starting with a letter or digit',
})

export const CreateChannelBody = z
  .object({
    /** `webhook`, `email` or `telegram`. */
    type: z.string().min(1).max(30),
    name: ChannelName,
    /** The settings of this kind of channel; each kind validates its own. */
    settings: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'CreateChannel' })

/** The status of a message to a channel or webhook. `pending` is tried again later; `failed` is not. */
export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** A destination of the `message` tool, without its secrets. */
export const Channel = z
  .object({
    id: z.string(),
    type: z.string(),
    name: z.string(),
    /** Settings without secrets. */
    settings: z.record(z.string(), z.unknown()),
    /** The newest message sent through it. */
    last_delivery: z
      .object({
        status: DeliveryStatus,
        attempts: z.int(),
        error: z.string().nullable(),
        /** The machine-readable reason of `error`, as in error responses. */
        reason: z.string().nullable(),
        params: ErrorParams.nullable(),
        created_at: Timestamp,
      })
      .nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Channel' })
export type Channel = z.infer<typeof Channel>

export const ChannelList = z.object({ items: z.array(Channel) })
