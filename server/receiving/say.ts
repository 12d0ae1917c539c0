// What the agent sends of its own accord, during a run, into the chat that the run belongs to.
import { createHash } from 'node:crypto'
import type { Database } from '../db/database.ts'
import type { ChatPlace } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import type { Messenger } from '../messaging/messenger.ts'
import type { CallId, ConversationId, RunId, UserId } from '../protocol/ids.ts'
import { addAnswer } from './parts.ts'
import { mayReceive } from './permission.ts'

/** What sending into chats needs. */
export interface SpeechDependencies {
  database: Database
  store: Store
  now(): Date
  messengerOf(type: string): Messenger | null
  /** Counts a message against the limits of its user. @throws AppError if one is reached. */
  admit(userId: UserId): Promise<void>
}

/** A message of the tool `message` without an address. */
export interface SpokenMessage {
  userId: UserId
  conversationId: ConversationId | null
  runId: RunId
  callId: CallId
  text: string
}

/** `delivery`: the part of the message that arrives last; null if nobody may be reached in the chat any more. */
export interface Spoken {
  channel: string
  delivery: string | null
}

/** Create one per process: it sends into chats. */
export function createChatSpeech({ database, store, now, messengerOf, admit }: SpeechDependencies) {
  const listeners = new Set<() => void>()

  /** The chat that the run came from, or that of its conversation. */
  async function placeOf({
    userId,
    conversationId,
    runId,
  }: Pick<SpokenMessage, 'userId' | 'conversationId' | 'runId'>): Promise<ChatPlace | null> {
    const place =
      (await store.receiving.chatOfRun(runId)) ??
      (conversationId === null ? undefined : await store.receiving.chatOf(conversationId))
    return place === undefined || place.chat.userId !== userId ? null : place
  }

  return {
    /** How the chat is called to which such a message would go; null if it would go to none. */
    async nameOf(
      message: Pick<SpokenMessage, 'userId' | 'conversationId' | 'runId'>,
    ): Promise<string | null> {
      const place = await placeOf(message)
      if (place === null) return null
      const { chat, channel } = place
      return chat.name === '' ? channel.name : `${chat.name} (${channel.name})`
    },

    /**
     * Stores the message behind what is on its way to the chat, once for each call. Null if the conversation belongs to no chat.
     * @throws AppError if a limit is reached.
     */
    async say(message: SpokenMessage): Promise<Spoken | null> {
      const place = await placeOf(message)
      if (place === null) return null
      const { chat, channel } = place
      const { userId, runId, callId, text } = message
      if (!(await mayReceive(place, store))) return { channel: channel.name, delivery: null }
      // Models may give two calls the same id.
      const said = createHash('sha256').update(text).digest('base64url').slice(0, 16)
      const reference = `said:${runId}:${callId}:${said}`
      const known = await store.parts.findByReference(chat.id, `${reference}:0`)
      // The call is made again after the server ended.
      if (known !== undefined) return { channel: channel.name, delivery: known.id }
      await admit(userId)
      const max = messengerOf(channel.type)?.maxCharacters ?? 4_000
      const delivery = newId<string>()
      await database.write(async (tx) => {
        await addAnswer(
          tx,
          chat.id,
          { text, max, reference, lastId: delivery },
          { store, at: now() },
        )
      })
      for (const listener of listeners) listener()
      return { channel: channel.name, delivery }
    },

    /** Calls `listener` whenever something was stored. */
    onStored(listener: () => void): void {
      listeners.add(listener)
    },
  }
}
