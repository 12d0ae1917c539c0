// Makes a history acceptable to the strictest provider: alternating roles, no empty content, every call answered once.
import { CallId } from '../protocol/ids.ts'
import type { LlmMessage, ToolCall } from './client.ts'

type Assistant = Extract<LlmMessage, { role: 'assistant' }>
type User = Extract<LlmMessage, { role: 'user' }>
type ToolResult = Extract<LlmMessage, { role: 'tool' }>
type AnswersResults = boolean | 'without images'

/** Stands for an answer that failed or was empty. */
const NO_ANSWER = '(There was no answer.)'
/** Stands for the beginning of a conversation that begins with an answer. */
const BEGINNING = '(The conversation begins with this answer.)'
const EMPTY = '(empty)'
/** The result of a call that has none. */
const NO_RESULT = JSON.stringify({ success: false, error: 'This call has no result.' })

/**
 * The messages as every provider accepts them. Templates of Mistral and Gemma refuse two messages of one role in a row
 * (charmbracelet/crush#279, vllm-project/vllm#6862), a question directly after a result, and a conversation that begins with an
 * answer; others refuse empty texts, calls without or with two results, and equal ids of two calls.
 * Messages that need no change stay the same objects, and a longer history begins as the shorter one did.
 * @param options.answersResults whether an answer must stand between a result and the next question; `without images`: only
 * if no image of the results will be in the message of that question.
 */
export function sendableHistory(
  messages: readonly LlmMessage[],
  { answersResults = false }: { answersResults?: AnswersResults } = {},
): LlmMessage[] {
  const out: LlmMessage[] = []
  const add = (message: LlmMessage): void => {
    const last = out.at(-1)
    if (message.role === 'user') addUser(out, message, answersResults)
    else if (message.role === 'assistant') addAssistant(out, message)
    else if (message.role === 'system' && last?.role === 'system')
      out[out.length - 1] = { role: 'system', content: `${last.content}\n\n${message.content}` }
    else if (message.role !== 'system' || message.content !== '') out.push(message)
  }
  const used = new Set<string>()
  let isAfterText = false
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at]
    if (message === undefined) continue
    if (message.role === 'tool') {
      // Results are added with their calls. In prompt mode, calls are text; other results belong to no call.
      if (isAfterText) add(message)
      continue
    }
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    isAfterText = message.role === 'assistant' && calls.length === 0
    if (message.role !== 'assistant' || calls.length === 0) {
      add(message)
      continue
    }
    const results: ToolResult[] = []
    for (let next = at + 1; next < messages.length; next += 1) {
      const result = messages[next]
      if (result?.role !== 'tool') break
      results.push(result)
    }
    const ids = calls.map((call) => uniqueId(call.id, used))
    add(ids.every((id, index) => id === calls[index]?.id) ? message : withIds(message, ids))
    for (const result of inOrderOfResults(calls, ids, results)) add(result)
  }
  return out
}

function addUser(out: LlmMessage[], message: User, answersResults: AnswersResults): void {
  const last = out.at(-1)
  const isAnswered =
    answersResults === true || (answersResults === 'without images' && !endsWithImages(out))
  if (last?.role === 'user' || (last?.role === 'tool' && isAnswered))
    out.push({ role: 'assistant', content: NO_ANSWER })
  const isEmpty =
    `${message.context ?? ''}${message.content}`.trim() === '' &&
    (message.images ?? []).length + (message.documents ?? []).length === 0
  out.push(isEmpty ? { ...message, content: EMPTY } : message)
}

/** Whether one of the results at the end has images. */
function endsWithImages(messages: readonly LlmMessage[]): boolean {
  const before = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages
    .slice(before + 1)
    .some((message) => message.role === 'tool' && (message.images ?? []).length > 0)
}

function addAssistant(out: LlmMessage[], message: Assistant): void {
  const last = out.at(-1)
  const isPlain = (one: Assistant) => (one.toolCalls ?? []).length === 0 && one.carry === undefined
  if (isPlain(message) && message.content.trim() === '') return
  if (last === undefined || last.role === 'system') out.push({ role: 'user', content: BEGINNING })
  if (last?.role !== 'assistant' || !isPlain(last)) {
    out.push(message)
    return
  }
  // The reasoning of the first one belongs to a text that was complete.
  out[out.length - 1] = { ...message, content: [last.content, message.content].join('\n\n').trim() }
}

function uniqueId(id: CallId, used: Set<string>): CallId {
  let unique = id
  for (let count = 2; used.has(unique); count += 1)
    unique = CallId.parse(`${id.slice(0, MAX_STEM_CHARACTERS)}-${count}`)
  used.add(unique)
  return unique
}

/** Leaves room for a number within the maximum length of a call id. */
const MAX_STEM_CHARACTERS = 180

const withIds = (message: Assistant, ids: readonly CallId[]): Assistant => ({
  ...message,
  toolCalls: (message.toolCalls ?? []).map((call, at) => ({ ...call, id: ids[at] ?? call.id })),
})

/** One result for each call, in the order in which the results came; the missing ones follow. */
function inOrderOfResults(
  calls: readonly ToolCall[],
  ids: readonly CallId[],
  results: readonly ToolResult[],
): ToolResult[] {
  const open = new Set(calls.keys())
  const own = results.flatMap((result): ToolResult[] => {
    const at = [...open].find((index) => calls[index]?.id === result.callId)
    if (at === undefined) return []
    open.delete(at)
    const callId = ids[at] ?? result.callId
    const content = result.content.trim() === '' ? EMPTY : result.content
    return callId === result.callId && content === result.content
      ? [result]
      : [{ ...result, callId, content }]
  })
  const missing = [...open].flatMap((at): ToolResult[] => {
    const call = calls[at]
    const callId = ids[at]
    if (call === undefined || callId === undefined) return []
    return [{ role: 'tool', callId, name: call.name, content: NO_RESULT }]
  })
  return [...own, ...missing]
}
