// What a bridge hands over by HTTP, in the words of every messenger.
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { hashLinkToken } from '../lib/link-token.ts'
import type { Arrival } from '../messaging/messenger.ts'
import {
  type BridgeAnswer,
  type BridgeIncoming,
  MAX_RECEIVED_BYTES,
} from '../protocol/programs/channel.ts'
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
  store: Pick<Store, 'receiving' | 'parts'>
  receiving: Pick<Receiving, 'accept'>
}): BridgeInbox => ({
  async channel(id, token) {
    const channel = await store.receiving.findByToken(id, hashLinkToken(token))
    if (channel === undefined) throw appError('channel_receive_off')
    return channel
  },
  async take(channel, incoming) {
    const { approval } = incoming
    if (approval !== undefined) {
      const part = await store.parts.find(approval.id)
      const isHere =
        part !== undefined &&
        hasButtons(part.delivery.content) &&
        part.channel.id === channel.id &&
        part.chat.externalId === incoming.chat_id
      if (!isHere) return { accepted: false, duplicate: false }
    }
    const outcome = await receiving.accept(channel, arrivalOf(incoming))
    return { accepted: outcome === 'accepted', duplicate: outcome === 'duplicate' }
  },
})

const hasButtons = (content: string): boolean =>
  ['card', 'undo'].includes(PartContent.parse(JSON.parse(content)).type)

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
