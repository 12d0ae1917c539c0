// Fields of a chat completion beyond OpenAI's own that a provider requires back: merged while they stream, returned
// unchanged.
import { z } from 'zod'
import { asRecord } from '../../lib/records.ts'

/** Names of the fields, in messages and in tool calls. */
const CARRIED = [
  // Gemini: `google.thought_signature`.
  'extra_content',
  // OpenRouter and MiniMax: reasoning with signatures, in pieces.
  'reasoning_details',
  // LiteLLM: Anthropic's thinking with signatures, and everything that OpenAI's format has no field for.
  'thinking_blocks',
  'provider_specific_fields',
] as const

type Fields = Record<string, unknown>

/**
 * What a message and its calls carry. `calls` are in the order of the tool calls, with null for calls that carry nothing.
 */
export const CarriedFields = z.object({
  message: z.record(z.string(), z.unknown()).optional(),
  calls: z.array(z.record(z.string(), z.unknown()).nullable()).optional(),
})
/** What a message and its calls carry beyond OpenAI's fields. It is sent back unchanged. */
export type CarriedFields = z.infer<typeof CarriedFields>

/** Merges what a piece of a message or call carries into `fields`. Returns whether it carried anything. */
export function mergeCarried(fields: Fields, piece: Fields): boolean {
  let found = false
  for (const name of CARRIED) {
    const value = piece[name]
    if (value === undefined || value === null) continue
    if (Array.isArray(value) && value.length === 0) continue
    fields[name] = merged(name, fields[name], value)
    found = true
  }
  return found
}

function merged(name: string, known: unknown, piece: unknown): unknown {
  if (Array.isArray(piece) && (name === 'reasoning_details' || name === 'thinking_blocks'))
    return piece.reduce(addBlock, Array.isArray(known) ? [...known] : [])
  const next = asRecord(piece)
  if (next === undefined) return piece === '' ? (known ?? piece) : piece
  const all: Fields = { ...asRecord(known) }
  for (const [key, value] of Object.entries(next)) {
    if (value === null || value === undefined) continue
    all[key] = merged(key, all[key], value)
  }
  return all
}

/** Texts of a block that arrive in pieces. Everything else, including signatures, arrives whole. */
const STREAMED = new Set(['text', 'summary', 'thinking', 'data'])

/** Adds a piece to the block that it continues, or as a new block. */
function addBlock(blocks: unknown[], piece: unknown): unknown[] {
  const next = asRecord(piece)
  const at = next === undefined ? -1 : blocks.findLastIndex((block) => continues(block, next))
  const block = asRecord(blocks[at])
  if (next === undefined || block === undefined) return [...blocks, piece]
  const joined: Fields = { ...block }
  for (const [key, value] of Object.entries(next)) {
    if (value === null || value === undefined || value === '') continue
    const known = joined[key]
    joined[key] =
      STREAMED.has(key) && typeof value === 'string' && typeof known === 'string'
        ? known + newPart(known, value)
        : value
  }
  return blocks.with(at, joined)
}

/**
 * What a piece adds to the text so far. MiniMax sends all of it again with every piece
 * (https://platform.minimax.io/docs/api-reference/text-openai-api); short texts may be equal by chance.
 */
export const newPart = (known: string, piece: string): string =>
  known.length >= MIN_KNOWN && piece.startsWith(known) ? piece.slice(known.length) : piece

const MIN_KNOWN = 12

/** Index and type identify a block. A piece without an index continues the last block until that is signed. */
function continues(known: unknown, piece: Fields): boolean {
  const block = asRecord(known)
  if (block === undefined) return false
  if (piece.type !== undefined && block.type !== piece.type) return false
  if (piece.index !== block.index) return false
  const isSigned = typeof block.signature === 'string' && block.signature !== ''
  const isWhole = typeof piece.type === 'string' && /encrypted|redacted/.test(piece.type)
  if (piece.index === undefined && isWhole) return false
  // Nothing is added to a signed block: the signature covers what precedes it.
  return !isSigned || !hasText(piece)
}

const hasText = (piece: Fields): boolean =>
  [...STREAMED].some((key) => typeof piece[key] === 'string' && piece[key] !== '')
