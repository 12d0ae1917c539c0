// Caches the messages of branches that never change again, so that a run in a long conversation reads only what is new.
import { LRUCache } from 'lru-cache'
import type { ConversationId, MessageId } from '../../../../protocol/ids.ts'
import type { Database, Reader } from '../../../database.ts'
import type { BranchHistory, HistoryMessage, ReadMessage } from '../branch-history.ts'

/**
 * Reads a part of a branch, oldest first: its newest messages up to `from`, at most `length` and about `maxBytes`. Empty
 * when the conversation has no such message. Callers share the returned objects, so they must not change them.
 * @param reader of `readInOrder`.
 */
type ReadHistory = (
  from: MessageId,
  page: { length: number; maxBytes: number },
  reader?: Reader,
) => Promise<HistoryMessage[]>

/** Limits in bytes, estimated. */
interface HistoryCacheLimits {
  total: number
  /** A conversation that takes more is not cached. */
  perConversation: number
}

const LIMITS: HistoryCacheLimits = { total: 32_000_000, perConversation: 16_000_000 }

/** Messages of the first query when some are cached: usually the question, the answer before it, and two cached ones. */
const NEW_MESSAGES = 4

/** Bytes of a message and of a step besides their texts, with data derived from them; a high estimate. */
const MESSAGE_BYTES = 1_500
const STEP_BYTES = 500
const BYTES_PER_CHARACTER = 2

interface Known {
  id: MessageId
  parentId: MessageId | null
  /** Null if it may change: then only its position is cached. The message is without attachments and summary. */
  final: { message: HistoryMessage; hasFiles: boolean } | null
  bytes: number
}

interface KnownConversation {
  messages: Map<MessageId, Known>
  summaries: ReadonlyMap<MessageId, string>
  bytes: number
}

/**
 * Caches branches per conversation. Its entries never become stale: a message never moves within its branch, and a final
 * one keeps its content. What is read again: the newest messages, which show whether the branch exists; messages that are
 * not final; attachments; the number of summaries.
 */
export function createHistoryCache(
  database: Pick<Database, 'readInOrder'>,
  history: BranchHistory,
  limits = LIMITS,
): (conversationId: ConversationId) => ReadHistory {
  const conversations = new LRUCache<ConversationId, KnownConversation>({
    maxSize: limits.total,
    maxEntrySize: limits.perConversation,
    sizeCalculation: ({ bytes }) => bytes,
  })

  /** Caches the messages and returns them; those that were cached before as the same objects. */
  function remember(id: ConversationId, read: readonly ReadMessage[]): HistoryMessage[] {
    if (read.length === 0) return []
    const known = conversations.get(id) ?? newConversation()
    const { messages } = known
    let { bytes } = known
    const same = read.map(({ message, isFinal, hasFiles }) => {
      const before = messages.get(message.id)
      if (before?.final) return withRest(before.final.message, message)
      const lasting = isLasting(message) ? message : { ...message, attachments: [], summary: null }
      const now: Known = {
        id: message.id,
        parentId: message.parentId,
        final: isFinal ? { message: lasting, hasFiles } : null,
        bytes: isFinal ? bytesOf(lasting) : MESSAGE_BYTES,
      }
      messages.set(message.id, now)
      bytes += now.bytes - (before?.bytes ?? 0)
      return withRest(lasting, message)
    })
    // A new entry, because the cache computes the size of an entry only once.
    conversations.set(id, { ...known, bytes })
    return same
  }

  /** The cached part of a branch up to `from`. What may have changed in it is read again. */
  async function recall(
    id: ConversationId,
    from: MessageId,
    { length, summaryCount }: { length: number; summaryCount: number },
    reader: Reader,
  ): Promise<HistoryMessage[]> {
    const known = conversations.get(id)
    const chain = known === undefined ? [] : chainOf(known.messages, from, length)
    if (known === undefined || chain.length === 0) return []
    const [summaries, read, files] = await Promise.all([
      known.summaries.size === summaryCount ? known.summaries : history.summaries(id, reader),
      history.some(
        id,
        chain.flatMap((one) => (one.final === null ? [one.id] : [])),
        reader,
      ),
      history.filesOf(
        chain.flatMap((one) => (one.final?.hasFiles ? [one.id] : [])),
        reader,
      ),
    ])
    if (summaries !== known.summaries) rememberSummaries(id, summaries)
    const again = new Map(remember(id, read).map((message) => [message.id, message]))
    const messages: HistoryMessage[] = []
    for (const one of chain) {
      const message = one.final?.message ?? again.get(one.id)
      // Its conversation is being removed.
      if (message === undefined) break
      const attachments = files.get(one.id) ?? message.attachments
      messages.push(withRest(message, { attachments, summary: summaries.get(one.id) ?? null }))
    }
    return messages.reverse()
  }

  function rememberSummaries(id: ConversationId, summaries: ReadonlyMap<MessageId, string>): void {
    const known = conversations.get(id) ?? newConversation()
    const bytes = known.bytes - bytesOfTexts(known.summaries) + bytesOfTexts(summaries)
    conversations.set(id, { ...known, summaries, bytes })
  }

  return (id) => {
    /** The number of the conversation's summaries; null until the first messages are read. */
    let summaryCount: number | null = null
    const read = async (
      from: MessageId,
      page: { length: number; maxBytes: number },
      reader: Reader,
    ): Promise<HistoryMessage[]> => {
      const isFirst = summaryCount === null
      if (summaryCount !== null) {
        const recalled = await recall(id, from, { length: page.length, summaryCount }, reader)
        if (recalled.length > 0) return recalled
      }
      const length = isFirst && conversations.has(id) ? NEW_MESSAGES : page.length
      const found = await history.branch(id, from, { ...page, length }, reader)
      summaryCount ??= found[0]?.summaryCount ?? null
      return remember(id, found)
    }
    return async (from, page, reader) =>
      reader === undefined
        ? await database.readInOrder((ordered) => read(from, page, ordered))
        : await read(from, page, reader)
  }
}

const newConversation = (): KnownConversation => ({
  messages: new Map(),
  summaries: new Map(),
  bytes: MESSAGE_BYTES,
})

/** The cached messages from one back to the oldest known one. */
function chainOf(
  messages: ReadonlyMap<MessageId, Known>,
  from: MessageId,
  length: number,
): Known[] {
  const chain: Known[] = []
  let id: MessageId | null = from
  while (id !== null && chain.length < length) {
    const known = messages.get(id)
    if (known === undefined) break
    chain.push(known)
    id = known.parentId
  }
  return chain
}

type Rest = Pick<HistoryMessage, 'attachments' | 'summary'>

const isLasting = ({ attachments, summary }: Rest): boolean =>
  attachments.length === 0 && summary === null

/** The same message with its attachments and its summary. Most have neither. */
const withRest = (message: HistoryMessage, { attachments, summary }: Rest): HistoryMessage =>
  isLasting({ attachments, summary }) && isLasting(message)
    ? message
    : { ...message, attachments, summary }

function bytesOf({ text, steps, carries, images, runState }: HistoryMessage): number {
  let characters = text.length + (runState === null ? 0 : JSON.stringify(runState).length)
  for (const step of steps) {
    characters += 'content' in step ? step.content.length : step.arguments.length
    if ('name' in step) characters += step.name.length + step.id_ref.length
  }
  for (const carry of carries.values()) characters += carry.length
  // Base64 takes one byte for each character.
  for (const image of [...images.values()].flat()) characters += image.data.length / 2
  return MESSAGE_BYTES + steps.length * STEP_BYTES + characters * BYTES_PER_CHARACTER
}

const bytesOfTexts = (texts: ReadonlyMap<MessageId, string>): number =>
  [...texts.values()].reduce(
    (sum, text) => sum + MESSAGE_BYTES + text.length * BYTES_PER_CHARACTER,
    0,
  )
