// Results that are too long for the model: stored whole, read in slices by handle.
import { LRUCache } from 'lru-cache'
import { type ConversationId, FileId, type RunId } from '../protocol/ids.ts'

/** The owner of a stored result: the conversation, or the run if there is no conversation. */
export interface ResultOwner {
  conversationId: ConversationId | null
  runId: RunId
}

/** Tool results that are too long for the model's context. `result_read` reads them by their handle. */
export interface LongResultStore {
  /** Stores the text and returns its handle. */
  create(owner: ResultOwner, content: string): Promise<string>
  /** The whole text; undefined if the handle is unknown, has expired or belongs to another owner. */
  read(owner: ResultOwner, handle: string): Promise<string | undefined>
}

const FILE_PREFIX = 'file-'

/** The handle for the text of a file that is attached to a message of the conversation. */
export const fileHandle = (id: FileId): string => `${FILE_PREFIX}${id}`

/** The file that a handle refers to; null if it refers to a stored result. */
const fileOfHandle = (handle: string): FileId | null =>
  handle.startsWith(FILE_PREFIX)
    ? (FileId.safeParse(handle.slice(FILE_PREFIX.length)).data ?? null)
    : null

/** Where the results of conversations and the texts of their files are stored. */
interface StoredTexts {
  toolResults: {
    create(result: {
      conversationId: ConversationId
      runId: RunId
      content: string
    }): Promise<string>
    find(conversation: ConversationId, handle: string): Promise<string | undefined>
  }
  files: {
    textIn(conversation: ConversationId, file: FileId): Promise<string | undefined>
  }
}

/** Stores long results per conversation. The texts of its attached files are read in the same way. */
export const createStoredResults = ({ files, toolResults }: StoredTexts): LongResultStore => ({
  async create({ conversationId, runId }, content) {
    if (conversationId === null) throw new Error('a long result needs a conversation')
    return toolResults.create({ conversationId, runId, content })
  },
  async read({ conversationId }, handle) {
    if (conversationId === null) return undefined
    const file = fileOfHandle(handle)
    return file === null
      ? toolResults.find(conversationId, handle)
      : files.textIn(conversationId, file)
  },
})

/** A slice of a stored result, as the model receives it. Offsets count UTF-16 units. */
export interface ResultSlice {
  handle: string
  content: string
  offset: number
  total_length: number
  /** Where the next slice begins; null at the end. */
  next_offset: number | null
}

/** Maximum length of a tool result that a model receives at once, in characters of its JSON text. */
export const MAX_RESULT_CHARACTERS = 50_000
/** Maximum length of a slice as JSON text, in which quotes and line breaks take two or more characters. */
const MAX_SLICE_CHARACTERS = 40_000

/** At most `length` characters from `offset`; fewer if their JSON form would be too long. Never splits a character. */
export function sliceResult(
  handle: string,
  content: string,
  offset: number,
  length: number,
): ResultSlice {
  const start = Math.min(offset, content.length)
  let end = Math.min(start + Math.min(length, MAX_SLICE_CHARACTERS), content.length)
  let written = JSON.stringify(content.slice(start, end)).length
  while (written > MAX_SLICE_CHARACTERS && end - start > 1) {
    end = start + Math.max(1, Math.floor(((end - start) * MAX_SLICE_CHARACTERS) / written) - 1)
    written = JSON.stringify(content.slice(start, end)).length
  }
  if (end < content.length && end - start > 1 && isHighSurrogate(content.charCodeAt(end - 1)))
    end -= 1
  return {
    handle,
    content: content.slice(start, end),
    offset: start,
    total_length: content.length,
    next_offset: end < content.length ? end : null,
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Kept in memory, oldest dropped first. For tests and for runs without a database. */
export function createMemoryLongResults(): LongResultStore {
  const kept = new LRUCache<string, { owner: string; content: string }>({
    maxSize: 64_000_000,
    sizeCalculation: ({ content }) => content.length + 1,
  })
  const ownerKey = ({ conversationId, runId }: ResultOwner): string => conversationId ?? runId
  let count = 0
  return {
    async create(owner, content) {
      count += 1
      const handle = `result-${count}`
      kept.set(handle, { owner: ownerKey(owner), content })
      return handle
    },
    async read(owner, handle) {
      const found = kept.get(handle)
      return found?.owner === ownerKey(owner) ? found.content : undefined
    },
  }
}
