// Estimates of token counts, for requests whose provider reports none and for fitting a history into a context window.
import { oncePer } from '../lib/once-per.ts'
import { estimateTokens, tokenWeight } from '../protocol/models/token-estimate.ts'
import type { Document, LlmMessage, LlmRequest, ToolCall, ToolSchema } from './client.ts'

/** Overhead of each message. */
const MESSAGE_TOKENS = 4
/** An average for one image; providers count between 85 and 1,600. */
const IMAGE_TOKENS = 800

/** Models read a document as its text and an image of each page. */
export const estimateDocumentTokens = ({ text, pages }: Pick<Document, 'text' | 'pages'>): number =>
  estimateTokens(text) + pages * IMAGE_TOKENS

/** Estimated tokens of a message, including its overhead. Once for each message, because every send asks for all of them. */
export const estimateMessageTokens = oncePer((message: LlmMessage): number => {
  const base = MESSAGE_TOKENS + estimateTokens(message.content)
  if (message.role === 'user')
    return (
      base +
      estimateTokens(message.context ?? '') +
      (message.images?.length ?? 0) * IMAGE_TOKENS +
      (message.documents ?? []).reduce((sum, file) => sum + estimateDocumentTokens(file), 0)
    )
  if (message.role === 'tool') return base + (message.images?.length ?? 0) * IMAGE_TOKENS
  if (message.role !== 'assistant') return base
  const calls = (message.toolCalls ?? []).reduce((sum, call) => sum + estimateCallTokens(call), 0)
  // Carried data usually contains the reasoning again.
  const hidden = Math.max(tokenWeight(message.reasoning ?? ''), tokenWeight(message.carry ?? ''))
  return base + Math.ceil(hidden) + calls
})

const estimateCallTokens = (call: ToolCall): number =>
  MESSAGE_TOKENS + estimateTokens(call.name) + estimateTokens(call.arguments)

/** Estimated tokens of the tools in a request. */
export const estimateToolTokens = (tools: readonly ToolSchema[]): number =>
  tools.length === 0 ? 0 : toolsTokens(tools)

/** Estimated prompt tokens of a request. */
export const estimatePromptTokens = (request: Pick<LlmRequest, 'messages' | 'tools'>): number =>
  request.messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0) +
  estimateToolTokens(request.tools)

// Most requests have the same tools, so their text is built and estimated once per list.

/** Users with other tools, sub-agents, and the formats of several APIs have their own lists. */
const MAX_KNOWN = 24

interface ToolText {
  tools: readonly unknown[]
  json: string
  /** Estimated on first use; undefined before. */
  tokens: number | undefined
}

/** Newest first. */
let known: ToolText[] = []

/** The JSON text of tools, which never change. The same string while the list contains the same objects. */
export const toolsJson = (tools: readonly unknown[]): string => find(tools).json

/** Estimated tokens of that text. */
function toolsTokens(tools: readonly unknown[]): number {
  const found = find(tools)
  found.tokens ??= estimateTokens(found.json)
  return found.tokens
}

function find(tools: readonly unknown[]): ToolText {
  const has = (one: ToolText): boolean =>
    one.tools.length === tools.length && one.tools.every((tool, at) => tool === tools[at])
  const [newest] = known
  if (newest !== undefined && has(newest)) return newest
  // Store a copy: a list can grow while it is used.
  const found = known.find(has) ?? {
    tools: [...tools],
    json: JSON.stringify(tools),
    tokens: undefined,
  }
  known = [found, ...known.filter((one) => one !== found)].slice(0, MAX_KNOWN)
  return found
}
