// The `cite` tool: a quote of the answer, which must stand in what the answer's tools have read.
import { z } from 'zod'
import { createTurns } from '../../../lib/turns.ts'
import type { Citation } from '../../../protocol/conversations/citation.ts'
import type { ConversationId, MessageId, UserId } from '../../../protocol/ids.ts'
import { fieldsOf, parseJson, textIn } from '../../../protocol/read-json.ts'
import { isReadingTool } from '../../../protocol/tool-names/reading-tools.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolContext,
  type ToolDefinition,
} from '../../definition.ts'
import type { LongResultStore } from '../../long-results.ts'
import { closestPassage, comparable, comparableQuote, findQuote } from './cite/find-quote.ts'
import { type QuotableText, quotableTexts, withoutArguments } from './cite/quotable-texts.ts'

/** A stored call with its result. */
export interface StoredCall {
  name: string
  /** JSON text. */
  arguments: string
  /** JSON text for the model. */
  content: string
  /** What the page shows of it. */
  display: string
}

/** What the `cite` tool needs from the server. */
export interface CiteDependencies {
  results: LongResultStore
  citations: {
    /** The calls of a conversation with this id, newest first. */
    byId(conversation: ConversationId, idRef: string): Promise<StoredCall[]>
    /** The tools whose results have this handle, oldest first. Looks through all results. */
    toolsByHandle(conversation: ConversationId, handle: string): Promise<string[]>
    /** Calls that read a file, newest first. */
    byPath(conversation: ConversationId, path: string): Promise<StoredCall[]>
    /** The passages of a document of the user; empty if they have no such document. */
    document(userId: UserId, id: string): Promise<QuotableText[]>
    /** Stores a citation with the answer. The same passage keeps its id. */
    add(
      answer: { conversationId: ConversationId; messageId: MessageId },
      passage: Omit<Citation, 'id'>,
    ): Promise<Citation>
  }
}

const AROUND = 500
const DOCUMENT = 'document:'

/** A text with the call that returned it, whose arguments it may repeat. */
type Source = QuotableText & { call: Pick<StoredCall, 'name' | 'arguments'> }

const WITHOUT_CALL = { name: '', arguments: '{}' }

/** The tool `cite`. */
export const createCiteTool = ({ results, citations }: CiteDependencies): ToolDefinition => {
  /** The texts of a successful result of a tool that reads. */
  async function textsOf(call: StoredCall, context: ToolContext): Promise<Source[]> {
    const { success, data } = fieldsOf(parseJson(call.content))
    if (success !== true || !isReadingTool(call.name)) return []
    const { handle, truncated } = fieldsOf(data)
    let whole = data
    if (truncated === true && typeof handle === 'string') {
      const text = await results.read(context, handle)
      whole = text === undefined ? data : (parseJson(text) ?? text)
    } else if (call.name === 'result_read' && !(await isReadFrom(textIn(handle) ?? '', context)))
      return []
    return quotableTexts(call.name, whole, call.display).map((text) => ({
      ...text,
      call,
    }))
  }

  /** Whether a handle is of an attached file, or of a result of a tool that reads. */
  async function isReadFrom(handle: string, { conversationId }: ToolContext): Promise<boolean> {
    if (handle.startsWith('file-')) return true
    if (conversationId === null) return false
    const tools = await citations.toolsByHandle(conversationId, handle)
    const first = tools.find((name) => name !== 'result_read')
    return first !== undefined && isReadingTool(first)
  }

  async function sourcesOf(source: string, context: ToolContext): Promise<Source[]> {
    const { conversationId, userId } = context
    if (conversationId === null) return []
    if (source.startsWith(DOCUMENT)) {
      const passages = await citations.document(userId, source.slice(DOCUMENT.length))
      return passages.map((text) => ({ ...text, call: WITHOUT_CALL }))
    }
    const found = [
      ...(await citations.byId(conversationId, source)),
      ...(await citations.byPath(conversationId, source)),
    ]
    if (found.length > 0)
      return (await Promise.all(found.map((one) => textsOf(one, context)))).flat()
    const text = await results.read(context, source)
    return text === undefined || !(await isReadFrom(source, context))
      ? []
      : [{ title: source, text, call: WITHOUT_CALL }]
  }

  return defineTool({
    name: 'cite',
    description:
      'Checks a quote against what your tools have read and returns an id such as c1. Write [c1] in the answer where you rely on it. The quote must stand in the source word for word.',
    category: 'knowledge',
    riskLevel: 'low',
    timeoutMs: 20_000,
    input: z.object({
      source: z
        .string()
        .trim()
        .min(1)
        .max(4_096)
        .describe(
          'Id of the call that read it, its result handle, `document:<id>`, or a file path.',
        ),
      quote: z.string().trim().min(1).max(1_000).describe('Copied from the source.'),
    }),
    // Numbers count up in the order of the calls.
    orderKey: () => 'cite',
    async handler({ source, quote }, context) {
      const { conversationId, messageId } = context
      if (conversationId === null || messageId === null) return fail('There is no answer here.')
      const sources = await sourcesOf(source, context)
      if (sources.length === 0)
        return fail(
          `Nothing that a tool has read in this conversation is called “${source}”. Name the call that read it, and read it first.`,
        )
      const wanted = comparableQuote(quote)
      const turn = createTurns()
      let closest: string | null = null
      for (const one of sources) {
        context.signal.throwIfAborted()
        const whole = await comparable(one.text, turn)
        const own = await withoutArguments(whole, one.call, wanted, turn)
        const place = findQuote(own, wanted)
        if (place === null) {
          closest ??= await closestPassage(own, wanted, turn)
          continue
        }
        const { start, end } = place
        const { id, title, url, page } = await citations.add(
          { conversationId, messageId },
          {
            source,
            title: one.title.slice(0, 300),
            ...(one.url === undefined ? {} : { url: one.url }),
            ...(one.documentId === undefined ? {} : { document_id: one.documentId }),
            ...(one.page === undefined ? {} : { page: one.page }),
            quote: one.text.slice(start, end),
            start,
            end,
            before: one.text.slice(Math.max(0, start - AROUND), start),
            after: one.text.slice(end, end + AROUND),
          },
        )
        return markUntrusted(
          succeed(
            {
              id,
              title,
              ...(url === undefined ? {} : { url }),
              ...(page === undefined ? {} : { page }),
              position: start,
            },
            { display: `[${id}] ${title}` },
          ),
          true,
        )
      }
      const data =
        closest === null ? {} : { data: { closest_passage: closest.replaceAll('\u0000', '') } }
      return markUntrusted(
        fail(
          'The quote does not stand in the source. Copy it from there, or do not cite it.',
          data,
        ),
        true,
      )
    },
  })
}
