// Reads what a run needs of its branch, in two statements: messages with their steps, run states and summaries.
import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { createTurns } from '../../../lib/turns.ts'
import type { ConversationId, MessageId, RunId } from '../../../protocol/ids.ts'
import { modelImagesOf, type Step } from '../../../protocol/runs/step.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'
import { isResumable } from '../runs/runs.ts'
import {
  type AttachmentInfo,
  attachmentColumns,
  isDocumentOf,
  toAttachmentInfo,
} from './attachments.ts'
import { branchUpFrom } from './message-tree.ts'
import { artifactText, toStep, withArtifacts } from './steps.ts'

/** A message of a branch as models receive it. */
export interface HistoryMessage {
  id: MessageId
  parentId: MessageId | null
  role: 'user' | 'assistant'
  text: string
  runId: RunId | null
  /** The stored state of the run that wrote it; null if there is none. */
  runState: unknown
  runEndedAt: Date | null
  /** The summary of the branch up to this message. */
  summary: string | null
  attachments: AttachmentInfo[]
  /** Without artifacts. Of these, models see only images. */
  steps: Step[]
  /** Whether a step contains text from outside. */
  holdsOutsideText: boolean
  /** What providers must receive back with the calls, by position of the call. */
  carries: ReadonlyMap<number, string>
  /** The images that models see with results, by position of the result. */
  images: ReadonlyMap<number, readonly StepImage[]>
}

/** An image of a tool result; `data` is base64. */
export interface StepImage {
  mime: string
  data: string
}

/** A message that was read, with what decides whether it must be read again. */
export interface ReadMessage {
  message: HistoryMessage
  /** Everything except its attachments and its summary never changes again. */
  isFinal: boolean
  hasFiles: boolean
  /** How many summaries its conversation has. */
  summaryCount: number
}

/** Reads the messages of a branch for runs. */
export type BranchHistory = ReturnType<typeof createBranchHistory>

/** Maximum messages that one query reads by id. */
const MESSAGES_PER_QUERY = 500
const NO_CARRIES: ReadonlyMap<number, string> = new Map()
const NO_IMAGES: HistoryMessage['images'] = new Map()

/** The queries of a history: both start from a table `branch(id, depth)`, so that they read only the rows they need. */
function createQueries({ tables }: Pick<Database, 'tables'>) {
  const { messages, attachments, steps, runs, summaries } = tables
  return {
    messagesOf: (read: Reader, branch: SQL, conversation: ConversationId | Placeholder) =>
      read
        .select({
          id: messages.id,
          parentId: messages.parentId,
          role: messages.role,
          text: messages.text,
          runId: messages.runId,
          runState: runs.state,
          runEndedAt: runs.endedAt,
          runStatus: runs.status,
          finishReason: runs.finishReason,
          summary: summaries.text,
          summaryCount:
            sql`(select count(*) from ${summaries} as every where every.conversation_id = ${conversation})`.mapWith(
              Number,
            ),
          // Few messages have attachments, so they are read only where there are some.
          hasFiles:
            sql`exists (select 1 from ${attachments} where ${attachments.messageId} = branch.id)`.mapWith(
              Boolean,
            ),
        })
        .from(branch)
        .crossJoin(messages)
        .leftJoin(runs, eq(runs.id, messages.runId))
        .leftJoin(
          summaries,
          and(
            eq(summaries.conversationId, conversation),
            eq(summaries.untilMessageId, messages.id),
          ),
        )
        .where(sql`${messages.id} = branch.id`)
        .orderBy(sql`branch.depth desc`),
    stepsOf: (read: Reader, branch: SQL) =>
      read
        .select({ ...getTableColumns(steps), artifact: artifactText(steps) })
        .from(branch)
        .crossJoin(steps)
        .where(sql`${steps.messageId} = branch.id`)
        .orderBy(asc(steps.messageId), asc(steps.position)),
  }
}

type Queries = ReturnType<typeof createQueries>
type MessageRow = Awaited<ReturnType<Queries['messagesOf']>>[number]
type StoredStepRow = Awaited<ReturnType<Queries['stepsOf']>>[number]
type StepRow = Awaited<ReturnType<typeof withArtifacts<StoredStepRow>>>[number]

/** Creates the queries that read branches for runs. */
export function createBranchHistory(database: Database) {
  const { dialect, tables } = database
  const { messages, summaries } = tables
  const { messagesOf, stepsOf } = createQueries(database)
  const conversation = sql.placeholder('conversationId')
  const upFrom = branchUpFrom(
    tables,
    conversation,
    sql.placeholder('from'),
    sql.placeholder('length'),
    sql.placeholder('maxBytes'),
  )
  const branchMessages = prepareOnEach((read: Reader) =>
    messagesOf(read, upFrom, conversation).prepare('history messages'),
  )
  const branchSteps = prepareOnEach((read: Reader) =>
    stepsOf(read, upFrom).prepare('history steps'),
  )

  return {
    filesOf: (ids: readonly MessageId[], reader: Reader) => filesOf(database, ids, reader),

    /**
     * Reads the branch that ends at `from`, oldest first, its newest `length` messages, or fewer if they reach `maxBytes`.
     * Empty when the conversation has no such message. Two statements.
     * @param reader of `readInOrder`.
     */
    async branch(
      conversationId: ConversationId,
      from: MessageId,
      { length, maxBytes }: { length: number; maxBytes: number },
      reader: Reader,
    ): Promise<ReadMessage[]> {
      const parameters = { conversationId, from, length, maxBytes }
      // PostgreSQL receives both statements together. SQLite returns at once, so the second is skipped if no message has
      // steps.
      const readSteps = async () => await branchSteps(reader).execute(parameters)
      const [rows, early] = await Promise.all([
        branchMessages(reader).execute(parameters),
        dialect === 'postgres' ? readSteps() : null,
      ])
      const haveSteps = rows.some(({ role }) => role === 'assistant')
      return await complete(database, rows, early ?? (haveSteps ? await readSteps() : []), reader)
    },

    /** Reads some messages, in any order. @param reader of `readInOrder`. */
    async some(
      conversationId: ConversationId,
      ids: readonly MessageId[],
      reader: Reader,
    ): Promise<ReadMessage[]> {
      const found: ReadMessage[] = []
      for (let from = 0; from < ids.length; from += MESSAGES_PER_QUERY) {
        const wanted = inArray(messages.id, ids.slice(from, from + MESSAGES_PER_QUERY))
        const branch = sql`(select id, 0 as depth from ${messages} where ${wanted}) as branch`
        const [rows, stepRows] = await Promise.all([
          messagesOf(reader, branch, conversationId),
          stepsOf(reader, branch),
        ])
        found.push(...(await complete(database, rows, stepRows, reader)))
      }
      return found
    },

    /** All summaries of a conversation, by the last message that they replace. They never change. */
    async summaries(
      conversationId: ConversationId,
      reader: Reader,
    ): Promise<ReadonlyMap<MessageId, string>> {
      const rows = await reader
        .select({ untilMessageId: summaries.untilMessageId, text: summaries.text })
        .from(summaries)
        .where(eq(summaries.conversationId, conversationId))
      return new Map(rows.map(({ untilMessageId, text }) => [untilMessageId, text]))
    },
  }
}

async function complete(
  database: Database,
  rows: readonly MessageRow[],
  storedSteps: readonly StoredStepRow[],
  reader: Reader,
): Promise<ReadMessage[]> {
  const stepRows = await withArtifacts(storedSteps)
  const withFiles = rows.flatMap(({ id, hasFiles }) => (hasFiles ? [id] : []))
  const attached = await filesOf(database, withFiles, reader)
  const ofMessages = new Map<MessageId, StepRow[]>()
  for (const row of stepRows) {
    const ofMessage = ofMessages.get(row.messageId)
    if (ofMessage === undefined) ofMessages.set(row.messageId, [row])
    else ofMessage.push(row)
  }
  // Everything has been read, so others may write meanwhile.
  const turn = createTurns()
  const completed: ReadMessage[] = []
  for (const row of rows) {
    completed.push(toReadMessage(row, ofMessages.get(row.id) ?? [], attached.get(row.id) ?? []))
    await turn()
  }
  return completed
}

/** The attachments of some messages. */
async function filesOf(
  database: Database,
  ids: readonly MessageId[],
  reader: Reader,
): Promise<ReadonlyMap<MessageId, AttachmentInfo[]>> {
  const { tables } = database
  const { attachments, files, documents } = database.tables
  const found = new Map<MessageId, AttachmentInfo[]>()
  for (let from = 0; from < ids.length; from += MESSAGES_PER_QUERY) {
    const rows = await reader
      .select(attachmentColumns(tables))
      .from(attachments)
      .leftJoin(files, eq(files.id, attachments.fileId))
      .leftJoin(documents, isDocumentOf(tables))
      .where(inArray(attachments.messageId, ids.slice(from, from + MESSAGES_PER_QUERY)))
      .orderBy(asc(attachments.messageId), asc(attachments.position))
    for (const row of rows) {
      const ofMessage = found.get(row.messageId) ?? []
      found.set(row.messageId, ofMessage)
      ofMessage.push(toAttachmentInfo(row))
    }
  }
  return found
}

/** The images that models see with the results of these steps. */
export function imagesOf(
  rows: readonly Pick<StepRow, 'position' | 'artifact'>[],
): HistoryMessage['images'] {
  const found = rows.flatMap(({ position, artifact }): [number, StepImage[]][] => {
    const images = modelImagesOf(artifact)
    return images.length === 0 ? [] : [[position, images]]
  })
  return found.length === 0 ? NO_IMAGES : new Map(found)
}

function toReadMessage(
  { hasFiles, summaryCount, runStatus, finishReason, ...row }: MessageRow,
  allSteps: readonly StepRow[],
  attachments: AttachmentInfo[],
): ReadMessage {
  // Models do not learn of the calls of apps, so that those of an answer that is remembered may grow.
  const stepRows = allSteps.filter(({ origin }) => origin === null)
  const carries = stepRows.flatMap(({ position, carry }): [number, string][] =>
    carry === null ? [] : [[position, carry]],
  )
  const message = {
    ...row,
    attachments,
    steps: stepRows.map((step) => toStep({ ...step, artifact: null })),
    holdsOutsideText: allSteps.some(({ artifact }) => artifact?.untrusted === true),
    carries: carries.length === 0 ? NO_CARRIES : new Map(carries),
    images: imagesOf(stepRows),
  }
  const hasEnded =
    row.runId === null ||
    (runStatus !== null &&
      row.runEndedAt !== null &&
      !isResumable({ status: runStatus, finishReason, endedAt: row.runEndedAt }))
  // A program sends the results of its tools after the answer that called them.
  return {
    message,
    isFinal: row.role === 'user' || (hasEnded && !hasOpenCall(message.steps)),
    hasFiles,
    summaryCount,
  }
}

function hasOpenCall(steps: readonly Step[]): boolean {
  const answered = new Set(
    steps.flatMap((step) => (step.type === 'tool_result' ? [step.id_ref] : [])),
  )
  return steps.some((step) => step.type === 'tool_call' && !answered.has(step.id_ref))
}

// The messages of branches that never change again are remembered, so that a run in a long conversation reads only what is new
// (decision 0015).

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
