// What a program sends through the OpenAI-compatible routes: an earlier conversation, results of its own tools, a question.
import type { Writer } from '../db/database.ts'
import type { MessageRow } from '../db/repositories/conversations/messages.ts'
import type { NewStep, StepRow } from '../db/repositories/conversations/steps.ts'
import type { FileRow } from '../db/repositories/projects/files.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { createTurns } from '../lib/turns.ts'
import type { NewAttachment } from '../protocol/conversations/message.ts'
import type { CallId, ConversationId, MessageId, UserId } from '../protocol/ids.ts'
import { resumePoint } from '../runs/context.ts'
import { MESSAGE_DEFAULTS } from '../runs/start/row-defaults.ts'

/** A step of an earlier answer in the program's version. */
export type PastStep =
  | { type: 'text'; content: string }
  | { type: 'tool_call'; idRef: CallId; name: string; content: string }
  | { type: 'tool_result'; idRef: CallId; name: string; content: string }

/** A message before the question in the program's version. */
export type PastMessage =
  | { role: 'user'; text: string; attachments: readonly NewAttachment[] }
  | { role: 'assistant'; steps: readonly PastStep[] }

/** The results of the program's tools that ended an earlier run, by call id. */
export interface ClientResults {
  /** The answer whose calls they belong to. */
  messageId: MessageId
  results: ReadonlyMap<string, string>
}

/** A turn that a program sends together with its own history (`/v1`). */
export interface ProgramTurn {
  kind: 'program'
  /** The message below which the turn is stored; null at the root. */
  after: MessageId | null
  results: ClientResults | null
  past: readonly PastMessage[]
  /** Null if the answer continues after the results of the program's tools. */
  question: { text: string; attachments: readonly NewAttachment[] } | null
  /** The ids of the messages to store, in order. */
  ids: readonly MessageId[]
  /** The message below which the answer is stored. */
  lastId: MessageId
}

/** @throws AppError if there is nothing to answer. */
export function createProgramTurn(
  given: Pick<ProgramTurn, 'after' | 'results' | 'past' | 'question'>,
): ProgramTurn {
  const ids = [...given.past, ...(given.question === null ? [] : [given.question])].map(() =>
    newId<MessageId>(),
  )
  const lastId = ids.at(-1) ?? given.after
  if (lastId === null) throw appError('nothing_to_answer')
  return { kind: 'program', ...given, ids, lastId }
}

/**
 * Whether the turn holds text that nobody here vouches for: results of the program's tools, which may have read text from
 * anywhere, and answers, which may repeat what an earlier conversation read.
 */
export const bringsOutsideText = ({ results, past }: ProgramTurn): boolean =>
  (results !== null && results.results.size > 0) || past.some(({ role }) => role === 'assistant')

/**
 * Stores everything except the answer. The caller has locked the conversation and shows the answer.
 * @throws AppError if a result is missing.
 */
export async function storeProgramTurn(
  tx: Writer,
  store: Store,
  turn: ProgramTurn,
  at: {
    userId: UserId
    conversationId: ConversationId
    createdAt: Date
    origin: MessageRow['origin']
    /** The files of each message, in order. */
    files: readonly (readonly FileRow[])[]
  },
): Promise<void> {
  const { userId, conversationId, createdAt, origin } = at
  if (turn.after !== null) {
    const parent = await store.messages.findAttached(tx, conversationId, turn.after)
    if (parent === undefined) throw appError('parent_gone')
  }
  if (turn.results !== null) await storeResults(tx, store, userId, turn.results)
  let parentId = turn.after
  // Thousands of messages take long to store. No reader sees the open transaction.
  const pause = createTurns()
  for (const [index, id] of turn.ids.entries()) {
    await pause()
    const message = turn.past[index]
    const base = { ...MESSAGE_DEFAULTS, id, conversationId, parentId, origin, createdAt }
    const row: MessageRow =
      message === undefined
        ? { ...base, role: 'user', text: turn.question?.text ?? '' }
        : message.role === 'user'
          ? { ...base, role: 'user', text: message.text }
          : { ...base, role: 'assistant', text: lastTextOf(message.steps) }
    await store.messages.add(tx, userId, [row], at.files[index] ?? [])
    if (message?.role === 'assistant')
      for (const [position, step] of message.steps.entries()) {
        await pause()
        await store.steps.store(tx, userId, stepRow(id, position, step))
      }
    parentId = id
  }
}

const lastTextOf = (steps: readonly PastStep[]): string =>
  steps.findLast(({ type }) => type === 'text')?.content ?? ''

const UNTRUSTED = { display: 'From the calling program', untrusted: true }

const stepRow = (messageId: MessageId, position: number, step: PastStep): NewStep => ({
  messageId,
  position,
  ...step,
  skipped: false,
  closed: true,
  artifact: step.type === 'tool_result' ? UNTRUSTED : null,
})

/** Results that are already stored stay unchanged, so that a request can be repeated. */
async function storeResults(
  tx: Writer,
  store: Store,
  userId: UserId,
  { messageId, results }: ClientResults,
): Promise<void> {
  const rows: StepRow[] = await store.steps.list(messageId, tx)
  const { pendingCalls, places } = resumePoint(rows, { get: () => undefined })
  const pause = createTurns()
  for (const call of pendingCalls) {
    await pause()
    const content = results.get(call.id)
    const place = places.get(call.id)
    if (content === undefined || place === undefined)
      throw appError('client_result_missing', { name: call.name })
    await store.steps.store(
      tx,
      userId,
      stepRow(messageId, place.result, {
        type: 'tool_result',
        idRef: call.id,
        name: call.name,
        content,
      }),
    )
  }
}
