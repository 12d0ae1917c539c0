// Messages that wait for the current answer to end: kept in local storage, so that they survive a reload and other tabs show them too.
import { create } from 'zustand'
import type { CreateConversationBody } from '../../../../../server/protocol/conversations/conversation.ts'
import { privateKey } from '../../../lib/browser/private-storage.ts'
import { useSession } from '../../../lib/http/session.ts'
import { fieldsOf, listIn, parseJson, textIn } from '../../../lib/read-json.ts'
import type { AttachedFile } from '../attachments/attachments.ts'

/** A message that is sent once the conversation is free. */
export type QueuedMessage = {
  /** The `client_id` it is sent with: two tabs that send it create one message. */
  id: string
  text: string
  files: readonly AttachedFile[]
  /** Whether tools are offered, as chosen when it was written. */
  tools: boolean
  /** Set when it begins a conversation. */
  begins?: NewConversation
}

/** The conversation that a message begins, which was written without a connection. */
export type NewConversation = {
  settings: Partial<CreateConversationBody>
  /** A second model that answers beside the first one. */
  secondModel: string | null
  /** Set once it is created. */
  id: string | null
}

/** The queue of messages that begin a conversation each. */
export const NEW_CONVERSATIONS = 'new'

type Queues = Readonly<Record<string, readonly QueuedMessage[]>>

const STORAGE_KEY = privateKey('queue')

const readMessage = (value: unknown): QueuedMessage[] => {
  const { id, text, files, tools, begins } = fieldsOf(value)
  if (typeof id !== 'string' || typeof text !== 'string' || typeof tools !== 'boolean') return []
  // The page stored these itself, as the server had returned them; the server checks their ids again.
  const attached = listIn(files).filter(
    (file) => textIn(fieldsOf(file).id) !== undefined,
  ) as AttachedFile[]
  return [{ id, text, files: attached, tools, ...readBeginning(begins) }]
}

const readBeginning = (value: unknown): Pick<QueuedMessage, 'begins'> => {
  if (value === undefined) return {}
  const { settings, secondModel, id } = fieldsOf(value)
  return {
    begins: {
      // The page stored these itself; the server checks them again.
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
    // storage blocked or full: the queue lasts until the page closes
  }
}

type QueueStore = {
  queues: Queues
  /** The message that is sent next whatever became of the answer before it, by conversation. */
  urgent: Readonly<Record<string, string>>
  /** Why the first message could not be sent, by conversation. */
  failures: Readonly<Record<string, string>>
  /** Messages that are being edited and must not be sent meanwhile. */
  edited: ReadonlySet<string>
  change(
    conversationId: string,
    change: (queue: readonly QueuedMessage[]) => readonly QueuedMessage[],
  ): void
  /** Puts the message first; it is sent as soon as no run is active. */
  hurry(conversationId: string, id: string): void
  setFailure(conversationId: string, text: string | null): void
  setEdited(id: string, isEdited: boolean): void
}

const without = <Value>(record: Readonly<Record<string, Value>>, key: string) => {
  const { [key]: _removed, ...rest } = record
  return rest
}

export const useQueues = create<QueueStore>((set, get) => ({
  queues: load({}),
  urgent: {},
  failures: {},
  edited: new Set(),
  change(conversationId, change) {
    // Another tab may have changed it since.
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

/**
 * The messages in the order in which they will be sent; the same empty list in every render when
 * there are none.
 */
export const useQueue = (conversationId: string): readonly QueuedMessage[] =>
  useQueues(({ queues }) => queues[conversationId] ?? NONE)

/** Adds a message at the end, to be sent when the current answer has ended. */
export const enqueue = (conversationId: string, message: QueuedMessage): void =>
  useQueues.getState().change(conversationId, (queue) => [...queue, message])

/** Removes a message, because it was sent or the person no longer wants it. */
export const dequeue = (conversationId: string, id: string): void =>
  useQueues.getState().change(conversationId, (queue) => queue.filter((one) => one.id !== id))

// Signing out removes what is stored; the next user of this tab must not see or send it.
useSession.subscribe(({ token }, before) => {
  if (token !== before.token)
    useQueues.setState({ queues: token === null ? {} : load({}), urgent: {}, failures: {} })
})
