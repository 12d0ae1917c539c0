// Messages that wait for the current answer to end. In local storage, so that they survive a reload and other tabs show them
// too.
import { create } from 'zustand'
import type { CreateConversationBody } from '../../../../../server/protocol/conversations/conversation.ts'
import { privateKey } from '../../../lib/browser/private-storage.ts'
import { useSession } from '../../../lib/http/session.ts'
import { fieldsOf, listIn, parseJson, textIn } from '../../../lib/read-json.ts'
import type { AttachedFile } from '../attachments/attachments.ts'
import { receiveAnswers } from '../sending/outgoing.ts'

/** A message to send once the conversation is free. */
export type QueuedMessage = {
  /** Its `client_id`: two tabs that send it create only one message. */
  id: string
  text: string
  files: readonly AttachedFile[]
  /** Whether tools were on when it was written. */
  tools: boolean
  /**
   * The answer after which it was written. Null: that answer did not exist yet, or the message follows the last one of its
   * conversation.
   */
  parent: string | null
  /** Whether this answer was being written, so that the message is about how it ends. */
  waits: boolean
  /** Set if the message starts a conversation. */
  begins?: NewConversation
}

/** The conversation that a message starts, written without a connection. */
export type NewConversation = {
  settings: Partial<CreateConversationBody>
  /** A second model that also answers, for comparison; null for none. */
  secondModel: string | null
  /** The id of the conversation; null until it is created. */
  id: string | null
}

/** The key of the queue of messages that start a conversation each. */
export const NEW_CONVERSATIONS = 'new'

type Queues = Readonly<Record<string, readonly QueuedMessage[]>>

const STORAGE_KEY = privateKey('queue')

const readMessage = (value: unknown): QueuedMessage[] => {
  const { id, text, files, tools, parent, waits, begins } = fieldsOf(value)
  if (typeof id !== 'string' || typeof text !== 'string' || typeof tools !== 'boolean') return []
  // The page stored these as the server had returned them; the server checks their ids again.
  const attached = listIn(files).filter(
    (file) => textIn(fieldsOf(file).id) !== undefined,
  ) as AttachedFile[]
  return [
    {
      id,
      text,
      files: attached,
      tools,
      parent: textIn(parent) ?? null,
      // Earlier versions stored only messages that waited.
      waits: waits !== false,
      ...readBeginning(begins),
    },
  ]
}

const readBeginning = (value: unknown): Pick<QueuedMessage, 'begins'> => {
  if (value === undefined) return {}
  const { settings, secondModel, id } = fieldsOf(value)
  return {
    begins: {
      // The page stored these; the server checks them again.
      settings: fieldsOf(settings) as NewConversation['settings'],
      secondModel: textIn(secondModel) ?? null,
      id: textIn(id) ?? null,
    },
  }
}

const readQueues = (stored: string | null): Queues =>
  Object.fromEntries(
    Object.entries(fieldsOf(parseJson(stored ?? '{}'))).map(([id, list]) => [
      id,
      listIn(list).flatMap(readMessage),
    ]),
  )

const load = (otherwise: Queues): Queues => {
  try {
    return readQueues(localStorage.getItem(STORAGE_KEY))
  } catch {
    return otherwise // storage blocked: the queue lasts until the page closes
  }
}

const save = (queues: Queues): void => {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(queues))
  } catch {
    // Storage is blocked or full: the queue lasts until the page closes.
  }
}

type QueueStore = {
  queues: Queues
  /** For each conversation, the id of the message to send next, however the previous answer ended. */
  urgent: Readonly<Record<string, string>>
  /** For each conversation, why its first message could not be sent. */
  failures: Readonly<Record<string, string>>
  /** Ids of messages that are being edited and must not be sent. */
  edited: ReadonlySet<string>
  change(
    conversationId: string,
    change: (queue: readonly QueuedMessage[]) => readonly QueuedMessage[],
  ): void
  /** Moves the message to the front; it is sent once no run is active. */
  hurry(conversationId: string, id: string): void
  setFailure(conversationId: string, text: string | null): void
  setEdited(id: string, isEdited: boolean): void
}

const without = <Value>(record: Readonly<Record<string, Value>>, key: string) => {
  const { [key]: _removed, ...rest } = record
  return rest
}

/** The queues of all conversations, in sync with local storage. */
export const useQueues = create<QueueStore>((set, get) => ({
  queues: load({}),
  urgent: {},
  failures: {},
  edited: new Set(),
  change(conversationId, change) {
    // Another tab may have changed it.
    const queues = load(get().queues)
    const queue = change(queues[conversationId] ?? [])
    const next =
      queue.length === 0 ? without(queues, conversationId) : { ...queues, [conversationId]: queue }
    save(next)
    const isOtherFirst = queue[0]?.id !== queues[conversationId]?.[0]?.id
    set(({ failures }) => ({
      queues: next,
      failures: isOtherFirst ? without(failures, conversationId) : failures,
    }))
  },
  hurry(conversationId, id) {
    get().change(conversationId, (queue) => [
      ...queue.filter((one) => one.id === id),
      ...queue.filter((one) => one.id !== id),
    ])
    set(({ urgent, failures }) => ({
      urgent: { ...urgent, [conversationId]: id },
      failures: without(failures, conversationId),
    }))
  },
  setFailure: (conversationId, text) =>
    set(({ failures, urgent }) => ({
      urgent: text === null ? urgent : without(urgent, conversationId),
      failures:
        text === null ? without(failures, conversationId) : { ...failures, [conversationId]: text },
    })),
  setEdited: (id, isEdited) =>
    set(({ edited }) => {
      const next = new Set(edited)
      if (isEdited) next.add(id)
      else next.delete(id)
      return { edited: next }
    }),
}))

addEventListener('storage', ({ key, newValue }) => {
  if (key === STORAGE_KEY) useQueues.setState({ queues: readQueues(newValue) })
})

const NONE: readonly QueuedMessage[] = []

/** The messages in sending order. Without messages, it returns the same empty list in every render. */
export const useQueue = (conversationId: string): readonly QueuedMessage[] =>
  useQueues(({ queues }) => queues[conversationId] ?? NONE)

/** Appends a message to the queue. */
export const enqueue = (conversationId: string, message: QueuedMessage): void =>
  useQueues.getState().change(conversationId, (queue) => [...queue, message])

/** Puts a message before the others, because it was written before them. */
export const enqueueFirst = (conversationId: string, message: QueuedMessage): void =>
  useQueues.getState().change(conversationId, (queue) => [message, ...queue])

/** The messages that were written after `parent` follow the answer `answer`, which is being written in its place or below it. */
const follow =
  (parent: string | null, answer: string) =>
  (queue: readonly QueuedMessage[]): readonly QueuedMessage[] =>
    queue.map((one) => (one.parent === parent ? { ...one, parent: answer, waits: true } : one))

receiveAnswers(({ conversationId, parent, answer }) => {
  const { queues, change } = useQueues.getState()
  const isAffected = queues[conversationId]?.some((one) => one.parent === parent) === true
  if (isAffected) change(conversationId, follow(parent, answer))
})

/** Removes a message that was sent and is answered by `answer`; those written with it follow this answer. */
export const dequeueSent = (conversationId: string, sent: QueuedMessage, answer: string): void =>
  useQueues
    .getState()
    .change(conversationId, (queue) =>
      follow(sent.parent, answer)(queue.filter((one) => one.id !== sent.id)),
    )

/** The answer `parent` was deleted: the messages that were written after it pause, and the user sends them after the last message. */
export const orphan = (conversationId: string, parent: string): void =>
  useQueues
    .getState()
    .change(conversationId, (queue) =>
      queue.map((one) => (one.parent === parent ? { ...one, parent: null, waits: true } : one)),
    )

/** Removes a message, because it was sent or the user removed it. */
export const dequeue = (conversationId: string, id: string): void =>
  useQueues.getState().change(conversationId, (queue) => queue.filter((one) => one.id !== id))

// Signing out clears local storage; the next user of this tab must not see or send these messages.
useSession.subscribe(({ token }, before) => {
  if (token !== before.token)
    useQueues.setState({ queues: token === null ? {} : load({}), urgent: {}, failures: {} })
})
