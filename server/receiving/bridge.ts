// What a bridge hands over by HTTP, in the words of every messenger.
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { DuePart } from '../db/repositories/deliveries/outgoing-parts.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { hashLinkToken } from '../lib/link-token.ts'
import type { Arrival } from '../messaging/messenger.ts'
import { RunId } from '../protocol/ids.ts'
import {
  type BridgeAnswer,
  type BridgeIncoming,
  MAX_RECEIVED_BYTES,
} from '../protocol/programs/channel.ts'
import { settledReference } from './cards.ts'
import { PartContent } from './content.ts'
import type { Receiving } from './receiving.ts'

/** Receives what bridges hand over. */
export interface BridgeInbox {
  /** The channel with this token. @throws AppError `channel_receive_off`. */
  channel(id: string, token: string): Promise<ChannelRow>
  take(channel: ChannelRow, incoming: BridgeIncoming): Promise<BridgeAnswer>
}

/** Create one per process. */
export const createBridgeInbox = ({
  store,
  receiving,
}: {
  store: Pick<Store, 'receiving' | 'parts' | 'runs'>
  receiving: Pick<Receiving, 'accept'>
}): BridgeInbox => ({
  async channel(id, token) {
    const channel = await store.receiving.findByToken(id, hashLinkToken(token))
    if (channel === undefined) throw appError('channel_receive_off')
    return channel
  },
  async take(channel, incoming) {
    const { approval } = incoming
    let isDecided = false
    if (approval !== undefined) {
      const part = await store.parts.find(approval.id)
      const isHere =
        part !== undefined &&
        hasButtons(part.delivery.content) &&
        part.channel.id === channel.id &&
        part.chat.externalId === incoming.chat_id
      if (!isHere) return { accepted: false, duplicate: false }
      isDecided = await isUsed(part, store)
    }
    const outcome = await receiving.accept(channel, arrivalOf(incoming))
    const isTaken = outcome === 'accepted'
    return {
      accepted: isTaken && !isDecided,
      duplicate: outcome === 'duplicate',
      ...(isTaken && isDecided ? { reason: 'already_decided' } : {}),
    }
  },
})

const hasButtons = (content: string): boolean =>
  ['card', 'undo'].includes(PartContent.parse(JSON.parse(content)).type)

/** Whether the request of a card has ended, so that its buttons decide nothing any more. */
async function isUsed(
  { delivery, chat }: DuePart,
  store: Pick<Store, 'parts' | 'runs'>,
): Promise<boolean> {
  const content = PartContent.parse(JSON.parse(delivery.content))
  if (content.type === 'undo')
    return (await store.parts.findByReference(chat.id, settledReference(delivery.id))) !== undefined
  if (content.type !== 'card') return false
  const approvals = await store.runs.approvals(RunId.parse(content.runId))
  return approvals.find(({ id }) => id === content.approvalId)?.status !== 'pending'
}

function arrivalOf(incoming: BridgeIncoming): Arrival {
  const { id, sender, approval } = incoming
  return {
    id,
    chat: {
      id: incoming.chat_id,
      name: incoming.chat_name ?? (incoming.group === true ? '' : sender.name),
      isPrivate: incoming.group !== true,
    },
    threadId: incoming.thread_id ?? '',
    sender,
    text: incoming.text ?? '',
    isAddressed: incoming.mention === true,
    isOutside: incoming.forwarded === true,
    quoted: '',
    files: (incoming.attachments ?? []).map(({ name, mime, data }) => ({
      name,
      isVoice: mime.startsWith('audio/'),
      async read() {
        const bytes = Buffer.from(data, 'base64')
        return bytes.length > MAX_RECEIVED_BYTES ? null : bytes
      },
    })),
    decision: approval === undefined ? null : { part: approval.id, choice: approval.decision },
    mayAnswerStranger: approval === undefined,
  }
}
