// The texts of a conversation that may name web addresses: its questions, and the results of its tool calls.
import { and, asc, desc, eq, inArray, isNull, like, lt, or, sql } from 'drizzle-orm'
import type { ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** A question, or a result with the name and the arguments of its call. */
export type AddressText =
  | { kind: 'question'; content: string }
  | { kind: 'result'; content: string; name: string; arguments: string }

/** Messages that one page reads; an answer may have many long results. */
const MESSAGES_PER_PAGE = 5

/** Uses the tables `messages` and `steps`. */
export function createAddressTextRepository({ read, tables }: Database) {
  const { messages, steps } = tables
  const holdsAddress = or(
    like(steps.content, '%://%'),
    // JSON may write a slash as `\/`.
    sql`${steps.content} like ${'%:\\/\\/%'} escape '|'`,
  )
  return {
    /** The texts of some messages, newest message first, of all branches. `next` is null after the last page. */
    async list(
      conversationId: ConversationId,
      before: number | null,
    ): Promise<{ items: AddressText[]; next: number | null }> {
      const found = await read
        .select({ id: messages.id, row: messages.row, role: messages.role, text: messages.text })
        .from(messages)
        .where(
          and(
            eq(messages.conversationId, conversationId),
            isNull(messages.deletedAt),
            before === null ? undefined : lt(messages.row, before),
          ),
        )
        .orderBy(desc(messages.row))
        .limit(MESSAGES_PER_PAGE)
      const answers = found.filter(({ role }) => role === 'assistant').map(({ id }) => id)
      const questions = found.flatMap(({ role, text }): AddressText[] =>
        role === 'user' ? [{ kind: 'question', content: text }] : [],
      )
      const last = found.length < MESSAGES_PER_PAGE ? undefined : found.at(-1)
      return { items: [...questions, ...(await resultsOf(answers))], next: last?.row ?? null }
    },
  }

  async function resultsOf(ids: readonly MessageId[]): Promise<AddressText[]> {
    if (ids.length === 0) return []
    const rows = await read
      .select({
        messageId: steps.messageId,
        type: steps.type,
        idRef: steps.idRef,
        name: steps.name,
        content: steps.content,
      })
      .from(steps)
      .where(
        and(
          inArray(steps.messageId, [...ids]),
          or(eq(steps.type, 'tool_call'), and(eq(steps.type, 'tool_result'), holdsAddress)),
        ),
      )
      .orderBy(asc(steps.messageId), asc(steps.position))
    const calls = new Map(
      rows
        .filter(({ type }) => type === 'tool_call')
        .map(({ messageId, idRef, content }) => [`${messageId} ${idRef}`, content]),
    )
    return rows
      .filter(({ type }) => type === 'tool_result')
      .map(
        ({ messageId, idRef, name, content }): AddressText => ({
          kind: 'result',
          content,
          name: name ?? '',
          arguments: calls.get(`${messageId} ${idRef}`) ?? '',
        }),
      )
  }
}
