// Fits a conversation to a model's context window: old tool results first, then the oldest turns as a summary.
import type { LlmMessage, ToolSchema } from '../llm/client.ts'
import { estimateMessageTokens, estimateTokens } from '../llm/tokens.ts'
import { summaryNote, withNote } from './system-prompt.ts'

/** A shortened tool result keeps this many characters from its beginning. */
const SHORTENED_RESULT_CHARACTERS = 400
/** Share of the free window that the kept turns may fill after a summary. Leaves room, so that not every turn needs a new summary. */
const KEPT_SHARE = 0.5

const total = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)

/** Tokens left for messages in a window of `contextWindow`. */
export function messageBudget(
  contextWindow: number,
  answerTokens: number | undefined,
  tools: readonly ToolSchema[],
): number {
  const reserved = Math.min(answerTokens ?? 4_096, contextWindow / 2)
  return Math.max(256, contextWindow - reserved - estimateTokens(JSON.stringify(tools)))
}

/**
 * Fits the conversation into `budget` tokens. The system prompt and the newest turn (from the last user message on)
 * are kept, except that older tool results in them may be shortened. `summarize` gets the turns that are dropped; it must not
 * throw and returns null when no summary could be written.
 */
export async function fitMessages(
  messages: readonly LlmMessage[],
  budget: number,
  summarize: (dropped: readonly LlmMessage[], turns: number) => Promise<string | null>,
): Promise<readonly LlmMessage[]> {
  if (total(messages) <= budget) return messages
  const shortened = shortenResults(messages, budget)
  if (total(shortened) <= budget) return shortened

  const system = shortened.filter((message) => message.role === 'system')
  const turns = splitTurns(shortened.filter((message) => message.role !== 'system'))
  const newest = turns.at(-1) ?? []
  const left = Math.max(0, budget - total(system) - total(newest)) * KEPT_SHARE
  let keptFrom = turns.length - 1
  let kept = 0
  while (keptFrom > 0) {
    const size = total(turns[keptFrom - 1] ?? [])
    if (kept + size > left) break
    kept += size
    keptFrom -= 1
  }
  if (keptFrom === 0) return shortened
  const summary = await summarize(turns.slice(0, keptFrom).flat(), keptFrom)
  const note =
    summary === null
      ? 'Earlier turns of this conversation were omitted because they no longer fit the context window.'
      : summaryNote(summary)
  return [...system, ...withNote(turns.slice(keptFrom).flat(), 0, note)]
}

/** Shortens tool results, oldest first, until the messages fit. Results of the last iteration are never shortened. */
function shortenResults(messages: readonly LlmMessage[], budget: number): LlmMessage[] {
  const out = [...messages]
  let excess = total(messages) - budget
  const lastAssistant = out.findLastIndex((message) => message.role === 'assistant')
  for (const [at, message] of out.entries()) {
    if (excess <= 0 || at > lastAssistant) break
    if (message.role !== 'tool' || message.content.length <= SHORTENED_RESULT_CHARACTERS) continue
    const content = `${message.content.slice(0, SHORTENED_RESULT_CHARACTERS)} … [shortened: this result no longer fits the context window]`
    excess -= estimateTokens(message.content) - estimateTokens(content)
    out[at] = { ...message, content }
  }
  return out
}

/** A turn is a user message and everything that answered it. */
function splitTurns(messages: readonly LlmMessage[]): LlmMessage[][] {
  const turns: LlmMessage[][] = []
  for (const message of messages) {
    const open = turns.at(-1)
    if (message.role === 'user' || open === undefined) turns.push([message])
    else open.push(message)
  }
  return turns
}
