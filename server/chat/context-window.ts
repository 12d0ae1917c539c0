// Fits a conversation to a model's context window: old tool results first, then the oldest turns as a summary.
import type { LlmMessage, ToolSchema } from '../llm/client.ts'

/** What an image costs, whatever its size, where no provider says it. */
const IMAGE_TOKENS = 1_000
const MESSAGE_OVERHEAD_TOKENS = 4
/** An old tool result keeps this much of its beginning. */
const SHORTENED_RESULT_CHARACTERS = 400
/** Part of the window that the kept turns may fill after older ones were summed up, so that it isn't done every turn. */
const KEPT_SHARE = 0.5

/** Tokens of a text, estimated: about four characters of Latin script, or one of Chinese, Japanese or Korean. */
export function estimateTokens(text: string): number {
  let wide = 0
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x2e7f) wide += 1
  return Math.ceil(wide + (text.length - wide) / 4)
}

export function messageTokens(message: LlmMessage): number {
  let tokens = MESSAGE_OVERHEAD_TOKENS + estimateTokens(message.content)
  if (message.role === 'assistant') {
    if (message.reasoning !== undefined) tokens += estimateTokens(message.reasoning)
    for (const call of message.toolCalls ?? [])
      tokens += MESSAGE_OVERHEAD_TOKENS + estimateTokens(call.name + call.arguments)
  }
  if (message.role === 'user') tokens += (message.images?.length ?? 0) * IMAGE_TOKENS
  return tokens
}

const total = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0)

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
 * The same conversation within `budget` tokens. The system prompt and the newest turn (from the last user message on)
 * are kept whole but for their older tool results. `summarize` is asked for the turns that have to go (a turn begins
 * with each user message); it never throws and answers null when no summary could be made.
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
  const room = Math.max(0, budget - total(system) - total(newest)) * KEPT_SHARE
  let keptFrom = turns.length - 1
  let kept = 0
  while (keptFrom > 0) {
    const size = total(turns[keptFrom - 1] ?? [])
    if (kept + size > room) break
    kept += size
    keptFrom -= 1
  }
  if (keptFrom === 0) return shortened
  const summary = await summarize(turns.slice(0, keptFrom).flat(), keptFrom)
  const note: LlmMessage = {
    role: 'system',
    content:
      summary === null
        ? 'Earlier turns of this conversation were left out because they no longer fit.'
        : `Summary of the earlier conversation:\n${summary}`,
  }
  return [...system, note, ...turns.slice(keptFrom).flat()]
}

/** Shortens tool results from the oldest on, until the rest fits; the last round's results are left as they are. */
function shortenResults(messages: readonly LlmMessage[], budget: number): LlmMessage[] {
  const out = [...messages]
  let excess = total(messages) - budget
  const lastAssistant = out.findLastIndex((message) => message.role === 'assistant')
  for (const [at, message] of out.entries()) {
    if (excess <= 0 || at > lastAssistant) break
    if (message.role !== 'tool' || message.content.length <= SHORTENED_RESULT_CHARACTERS) continue
    const content = `${message.content.slice(0, SHORTENED_RESULT_CHARACTERS)} … [shortened: this result no longer fits the context]`
    excess -= estimateTokens(message.content) - estimateTokens(content)
    out[at] = { ...message, content }
  }
  return out
}

/** A turn is a user message and all that answers it. */
function splitTurns(messages: readonly LlmMessage[]): LlmMessage[][] {
  const turns: LlmMessage[][] = []
  for (const message of messages) {
    const open = turns.at(-1)
    if (message.role === 'user' || open === undefined) turns.push([message])
    else open.push(message)
  }
  return turns
}
