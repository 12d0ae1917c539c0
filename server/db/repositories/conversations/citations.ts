// The citations of answers, and the stored results in which quotes are looked for.
import { and, asc, desc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Citation } from '../../../protocol/conversations/citation.ts'
import type { ConversationId, MessageId, UserId } from '../../../protocol/ids.ts'
import { fieldsOf, parseJson, textIn } from '../../../protocol/read-json.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { contains } from '../../fragments.ts'
import { createMembership } from '../projects/membership.ts'

/** A stored call with its result. */
export interface CallWithResult {
  name: string
  /** JSON text. */
  arguments: string
  /** JSON text for the model. */
  content: string
  /** What the page shows of the result. */
  display: string
}

/** Calls that are looked at for one source. */
const MAX_CALLS = 20
/** Passages of one document that are searched. */
const MAX_PASSAGES = 5_000

/** The path as a call may write it, in one form. */
const normalPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** Uses the tables `messages`, `steps`, `conversations`, `documents`, `passages` and `projects`. */
export function createCitationRepository(database: Database) {
  const { read, tables } = database
  const { messages, steps, documents, passages, projects } = tables
  const { isMember } = createMembership(database)

  return {
    ofConversation: (conversationId: ConversationId) =>
      ofConversation(database, read, conversationId),

    /** The citations of an answer. */
    async ofAnswer(conversationId: ConversationId, id: MessageId): Promise<readonly Citation[]> {
      const [row] = await read
        .select({ citations: messages.citations })
        .from(messages)
        .where(and(eq(messages.id, id), eq(messages.conversationId, conversationId)))
      return row?.citations ?? []
    },

    /** The calls of a conversation with this id, newest first: models repeat ids. */
    byId: (conversationId: ConversationId, idRef: string) =>
      withResults(database, conversationId, [idRef]),

    /** The tools whose results have this handle, oldest first. */
    async toolsByHandle(conversationId: ConversationId, handle: string): Promise<string[]> {
      const rows = await read
        .select({ name: steps.name })
        .from(messages)
        .innerJoin(steps, eq(steps.messageId, messages.id))
        .where(
          and(
            eq(messages.conversationId, conversationId),
            eq(steps.type, 'tool_result'),
            contains(steps.content, `"handle":${JSON.stringify(handle)}`),
          ),
        )
        .orderBy(asc(messages.row), asc(steps.position))
        .limit(MAX_CALLS)
      return rows.map(({ name }) => name ?? '')
    },

    /** Calls that read a file, newest first. */
    async byPath(conversationId: ConversationId, path: string): Promise<CallWithResult[]> {
      const rows = await select(
        database,
        conversationId,
        and(eq(steps.type, 'tool_call'), inArray(steps.name, ['file_read', 'read_file'])),
      )
        .orderBy(desc(messages.row), desc(steps.position))
        .limit(200)
      const wanted = normalPath(path)
      const ids = rows.flatMap(({ idRef, content }) => {
        const given = textIn(fieldsOf(parseJson(content)).path)
        return idRef !== null && given !== undefined && normalPath(given) === wanted ? [idRef] : []
      })
      const calls = await withResults(database, conversationId, ids.slice(0, MAX_CALLS))
      return calls.filter(
        (call) => normalPath(textIn(fieldsOf(parseJson(call.arguments)).path) ?? '') === wanted,
      )
    },

    /** The passages of a document of a project of the user, in order. */
    async document(userId: UserId, id: string) {
      const rows = await read
        .select({ title: documents.name, text: passages.text, page: passages.page })
        .from(documents)
        .innerJoin(projects, eq(projects.id, documents.projectId))
        .innerJoin(passages, eq(passages.documentId, documents.id))
        .where(and(eq(documents.id, id), isMember(userId)))
        .orderBy(asc(passages.position))
        .limit(MAX_PASSAGES)
      return rows.map(({ title, text, page }) => ({
        title,
        text,
        documentId: id,
        ...(page === null ? {} : { page }),
      }))
    },

    /**
     * Stores a citation with an answer. Numbers count up in the conversation; the same passage keeps its id.
     * @param passage without its id.
     */
    add: (
      message: { conversationId: ConversationId; messageId: MessageId },
      passage: Omit<Citation, 'id'>,
    ) => add(database, message, passage),
  }
}

function add(
  database: Database,
  { conversationId, messageId }: { conversationId: ConversationId; messageId: MessageId },
  passage: Omit<Citation, 'id'>,
): Promise<Citation> {
  const { messages } = database.tables
  return database.write(async (tx) => {
    await lock(database, tx, conversationId)
    const all = await ofConversation(database, tx, conversationId)
    const same = all.find(
      (one) =>
        one.source === passage.source &&
        one.start === passage.start &&
        one.end === passage.end &&
        one.quote === passage.quote,
    )
    const highest = all.reduce((most, { id }) => Math.max(most, Number(id.slice(1))), 0)
    const citation: Citation = same ?? { ...passage, id: `c${highest + 1}` }
    const [row] = await tx
      .select({ citations: messages.citations })
      .from(messages)
      .where(eq(messages.id, messageId))
    const own = row?.citations ?? []
    if (!own.some(({ id }) => id === citation.id))
      await tx
        .update(messages)
        .set({ citations: [...own, citation] })
        .where(eq(messages.id, messageId))
    return citation
  })
}

/** Answers of one conversation count up one after another. Writing to the row locks it on both databases. */
async function lock(database: Database, tx: Writer, conversationId: ConversationId): Promise<void> {
  const { conversations } = database.tables
  await tx
    .update(conversations)
    .set({ temporary: conversations.temporary })
    .where(eq(conversations.id, conversationId))
}

/** All citations of a conversation, those of deleted messages included. */
async function ofConversation(
  database: Database,
  reader: Pick<Reader, 'select'>,
  conversationId: ConversationId,
): Promise<Citation[]> {
  const { messages } = database.tables
  const rows = await reader
    .select({ citations: messages.citations })
    .from(messages)
    .where(and(eq(messages.conversationId, conversationId), isNotNull(messages.citations)))
  return rows.flatMap((row) => row.citations ?? [])
}

/** Calls with their results, newest first. */
async function withResults(
  database: Database,
  conversationId: ConversationId,
  ids: readonly string[],
): Promise<CallWithResult[]> {
  const { steps, messages } = database.tables
  if (ids.length === 0) return []
  const rows = await select(database, conversationId, inArray(steps.idRef, [...ids]))
    .orderBy(desc(messages.row), asc(steps.position))
    .limit(4 * MAX_CALLS)
  return rows.flatMap((call) => {
    const result = rows.find(
      (row) =>
        row.type === 'tool_result' && row.messageId === call.messageId && row.idRef === call.idRef,
    )
    return call.type !== 'tool_call' || result === undefined || result.skipped
      ? []
      : [toCall(call, result)]
  })
}

function select(database: Database, conversationId: ConversationId, condition: SQL | undefined) {
  const { read } = database
  const { steps, messages } = database.tables
  return read
    .select({
      messageId: steps.messageId,
      type: steps.type,
      idRef: steps.idRef,
      name: steps.name,
      content: steps.content,
      skipped: steps.skipped,
      // The rest of an artifact may be long.
      display: sql<string | null>`${steps.artifact} ->> 'display'`,
    })
    .from(messages)
    .innerJoin(steps, eq(steps.messageId, messages.id))
    .where(and(eq(messages.conversationId, conversationId), condition))
}

interface StepColumns {
  name: string | null
  content: string
  display: string | null
}

const toCall = (call: StepColumns, result: StepColumns): CallWithResult => ({
  name: result.name ?? '',
  arguments: call.content,
  content: result.content,
  display: result.display ?? result.name ?? '',
})
