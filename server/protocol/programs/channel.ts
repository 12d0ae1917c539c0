// Channels on the wire: external destinations of the `message` tool, and messengers from which people write to the agent.
import { z } from 'zod'
import { ApprovalMode } from '../conversations/conversation.ts'
import { optional, page, Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { ProjectId } from '../ids.ts'

/** Models write it after `channel:`, so it has no spaces. */
export const ChannelName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,49}$/u, {
  error: 'a name of up to 50 letters, digits, ., _ and -, starting with a letter or digit',
})

/** Which messages of a group start a run: none, those that address the bot, or all of paired senders. */
export const GroupMode = z.enum(['off', 'mention', 'all'])
export type GroupMode = z.infer<typeof GroupMode>

/** How a channel receives, with what its new conversations begin. */
export const ReceiveBody = z
  .object({
    project_id: optional(ProjectId),
    model: optional(z.string().min(1).max(200)),
    approval: optional(ApprovalMode),
    groups: optional(GroupMode),
    /** Each sender pairs with an account of their own; only administrators make such a channel. */
    shared: optional(z.boolean()),
  })
  .meta({ id: 'ReceiveChannel' })
export type ReceiveBody = z.infer<typeof ReceiveBody>

/** `ReceiveBody` with everything chosen. */
export const ReceiveSettings = z
  .object({
    project_id: ProjectId.nullable(),
    model: z.string().nullable(),
    approval: ApprovalMode,
    groups: GroupMode,
    shared: z.boolean(),
  })
  .meta({ id: 'ReceiveSettings' })
export type ReceiveSettings = z.infer<typeof ReceiveSettings>

export const CreateChannelBody = z
  .object({
    /** `webhook`, `email`, `telegram`, `bridge`, … */
    type: z.string().min(1).max(30),
    name: ChannelName,
    /** The settings of this kind of channel; each kind validates its own. */
    settings: z.record(z.string(), z.unknown()),
    receive: optional(ReceiveBody),
  })
  .meta({ id: 'CreateChannel' })

/** Absent fields stay unchanged; `receive: null` ends receiving. */
export const PatchChannelBody = z
  .object({
    name: optional(ChannelName),
    /** They replace those that clients see; secrets stay unless they are named. */
    settings: optional(z.record(z.string(), z.unknown())),
    receive: ReceiveBody.nullable().optional(),
  })
  .meta({ id: 'PatchChannel' })
export type PatchChannelBody = z.infer<typeof PatchChannelBody>

/** The status of a message to a channel or webhook. `pending` is tried again later; `failed` is not. */
export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** Whether a channel receives. `conflict`: another program receives for the same bot. */
export const ReceiveState = z.enum(['off', 'connecting', 'receiving', 'conflict', 'error'])
export type ReceiveState = z.infer<typeof ReceiveState>

/** A destination of the `message` tool, without its secrets. */
export const Channel = z
  .object({
    id: z.string(),
    type: z.string(),
    name: z.string(),
    /** Settings without secrets. */
    settings: z.record(z.string(), z.unknown()),
    direction: z.enum(['out', 'both']),
    /** How it receives; null: it only sends. */
    receive: ReceiveSettings.nullable(),
    state: ReceiveState,
    /** Where people write to it, if it has an address of its own; null otherwise. */
    address: z.string().nullable(),
    /** Why it does not receive, for a person; null if it does, or if it is not meant to. */
    error: z.string().nullable(),
    /** The machine-readable reason of `error`. */
    reason: z.string().nullable(),
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
/** A new channel; `token` is shown only now, and only where other programs hand over messages. */
export const CreatedChannel = Channel.extend({ token: z.string().optional() }).meta({
  id: 'CreatedChannel',
})
/** A new token, shown only now. */
export const ChannelToken = z.object({ token: z.string() }).meta({ id: 'ChannelToken' })
/** A new token of an address, which is also a part of it. */
export const AddressToken = z
  .object({ token: z.string(), address: z.string() })
  .meta({ id: 'AddressToken' })

/** The settings to try, before anything is stored. */
export const TestChannelBody = CreateChannelBody.pick({ type: true, settings: true }).meta({
  id: 'TestChannel',
})
/** What came of trying the settings of a channel. */
export const ChannelTest = z
  .object({
    ok: z.boolean(),
    /** As whom the service knows the bot, such as `@name`; null if it does not say so, or if the test failed. */
    bot: z.string().nullable(),
    /** Why it failed, for a person; null if it did not. */
    error: z.string().nullable(),
    /** The machine-readable reason of `error`. */
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
  })
  .meta({ id: 'ChannelTest' })
export type ChannelTest = z.infer<typeof ChannelTest>

/** A person at a messenger. `pending`: has written and not been paired yet. */
export const SenderState = z.enum(['pending', 'allowed', 'blocked'])
export type SenderState = z.infer<typeof SenderState>

/** A person at a messenger, and as whom they act. */
export const Sender = z
  .object({
    id: z.string(),
    external_id: z.string(),
    name: z.string(),
    state: SenderState,
    /** The account as which they act; null before they are paired. */
    user_id: z.string().nullable(),
    requested_at: Timestamp,
    allowed_at: Timestamp.nullable(),
    /** When they last wrote. */
    last_at: Timestamp,
  })
  .meta({ id: 'Sender' })
export type Sender = z.infer<typeof Sender>
export const SenderPage = page(Sender)

/**
 * `allowed` lets somebody in who has no code, as the owner of the channel: not in a shared one, where only the code says as
 * whom they act, nor by email, where it proves the address.
 */
export const SetSenderBody = z
  .object({ state: z.enum(['allowed', 'blocked']) })
  .meta({ id: 'SetSender' })
export const PairBody = z.object({ code: z.string().min(1).max(50) }).meta({ id: 'Pair' })
/** The sender that was paired, and the channel. */
export const Paired = z
  .object({ channel: z.object({ id: z.string(), name: z.string() }), sender: Sender })
  .meta({ id: 'Paired' })

/** The most bytes of a file that is received. */
export const MAX_RECEIVED_BYTES = 20 * 1024 * 1024
const ExternalId = z.string().min(1).max(200)
const BridgeSender = z.object({ id: ExternalId, name: z.string().max(200).default('') })

/** What a bridge hands over: a message, or the decision of a person about a tool call. */
export const BridgeIncoming = z
  .object({
    /** Identifies the message at the messenger: handing it over again changes nothing. */
    id: ExternalId,
    chat_id: ExternalId,
    thread_id: optional(ExternalId.nullable()),
    /** How the chat is called. */
    chat_name: optional(z.string().max(200)),
    /** Whether several people write in it. */
    group: optional(z.boolean()),
    /** In a group: whether the message addresses the bot. */
    mention: optional(z.boolean()),
    sender: BridgeSender,
    text: optional(z.string().max(200_000)),
    attachments: optional(
      z
        .array(
          z.object({
            name: z.string().min(1).max(255),
            mime: z.string().max(200),
            data: z.base64().max(Math.ceil((MAX_RECEIVED_BYTES * 4) / 3) + 4),
          }),
        )
        .max(10),
    ),
    /** Whether somebody else wrote the text. */
    forwarded: optional(z.boolean()),
    approval: optional(
      z.object({ id: z.string().min(1).max(40), decision: z.enum(['approve', 'reject']) }),
    ),
  })
  .refine(
    ({ text = '', attachments = [], approval }) =>
      text.trim() !== '' || attachments.length > 0 || approval !== undefined,
    { error: 'A message needs a text, attachments or an approval.', path: ['text'] },
  )
  .meta({ id: 'BridgeIncoming' })
export type BridgeIncoming = z.infer<typeof BridgeIncoming>
/**
 * `accepted`: it does something; `duplicate`: it has been handed over before; `reason`: why a decision does nothing, because
 * its request was decided before or ended.
 */
export const BridgeAnswer = z
  .object({
    accepted: z.boolean(),
    duplicate: z.boolean(),
    reason: z.enum(['already_decided']).optional(),
  })
  .meta({ id: 'BridgeAnswer' })
export type BridgeAnswer = z.infer<typeof BridgeAnswer>
