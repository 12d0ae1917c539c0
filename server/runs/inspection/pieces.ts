// The stored form of a stretch of an attempt: model calls and commits. Lists of parts contain only what was appended.
import { z } from 'zod'
import type { ProviderExchange } from '../../llm/exchange.ts'
import { wholeText } from '../../llm/prose.ts'
import {
  RecordedExchange,
  type RecordedField,
  StoredEvent,
} from '../../protocol/runs/run-record.ts'
import { splitRequest, type TakePart } from './split-request.ts'

const PackedField = z.union([
  z.object({ name: z.string(), json: z.string() }),
  z.object({ name: z.string(), part: z.string() }),
  z.object({
    name: z.string(),
    /** This many parts at the beginning equal those of the same field in the previous exchange. */
    same: z.int().min(0),
    parts: z.array(z.string()),
  }),
])
type PackedField = z.infer<typeof PackedField>

const PackedExchange = RecordedExchange.extend({ body: z.array(PackedField) })
type PackedExchange = z.infer<typeof PackedExchange>

/** The content of one stored record. */
export const RecordPiece = z.object({
  calls: z.array(z.object({ number: z.int().min(1), exchanges: z.array(PackedExchange) })),
  stored: z.array(StoredEvent),
})
/** The content of one stored record: model calls and commits of a stretch of one attempt. */
export type RecordPiece = z.infer<typeof RecordPiece>

/** The calls of a piece, with complete lists of parts. */
export function callsOf(piece: RecordPiece): { number: number; exchanges: RecordedExchange[] }[] {
  let lists = new Map<string, readonly string[]>()
  return piece.calls.map(({ number, exchanges }) => ({
    number,
    exchanges: exchanges.map((exchange) => {
      const body = exchange.body.map((field): RecordedField => {
        if (!('same' in field)) return field
        const parts = [...(lists.get(field.name) ?? []).slice(0, field.same), ...field.parts]
        return { name: field.name, parts }
      })
      lists = listsOf(body)
      return { ...exchange, body }
    }),
  }))
}

const listsOf = (body: readonly RecordedField[]): Map<string, readonly string[]> =>
  new Map(body.flatMap((field) => ('parts' in field ? [[field.name, field.parts]] : [])))

/** Creates a function that packs the exchanges of a piece in order. */
export function createPacker(
  take: TakePart,
  redact: (text: string) => string,
): (exchange: ProviderExchange) => PackedExchange {
  let lists = new Map<string, readonly string[]>()
  return (exchange) => {
    const fields = splitRequest(exchange.body, take)
    const body = fields.map((field): PackedField => {
      if ('json' in field) return { name: field.name, json: redact(field.json) }
      if ('part' in field) return field
      const same = commonLength(lists.get(field.name) ?? [], field.parts)
      return { name: field.name, same, parts: field.parts.slice(same) }
    })
    lists = listsOf(fields)
    return {
      model: exchange.model,
      sent_at: exchange.sentAt.toISOString(),
      method: 'POST',
      url: redact(exchange.url),
      headers: { ...exchange.headers },
      body,
      response: responseOf(exchange, redact),
    }
  }
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const end = Math.min(one.length, other.length)
  for (let at = 0; at < end; at += 1) if (one[at] !== other[at]) return at
  return end
}

function responseOf(
  exchange: ProviderExchange,
  redact: (text: string) => string,
): RecordedExchange['response'] {
  const { usage } = exchange
  return {
    status: exchange.status,
    request_id: exchange.requestId,
    headers_ms: exchange.headersMs,
    end_ms: exchange.endMs,
    error: exchange.error === null ? null : redact(exchange.error),
    thinking: redact(wholeText(exchange.thinking)),
    text: redact(wholeText(exchange.text)),
    calls: exchange.calls.map((call) => ({ ...call, arguments: redact(call.arguments) })),
    finish: exchange.finish,
    usage:
      usage === null
        ? null
        : {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cached_tokens: usage.cached_tokens ?? 0,
            cache_write_tokens: usage.cache_write_tokens ?? 0,
            reasoning_tokens: usage.reasoning_tokens ?? 0,
          },
    cut: exchange.isCut,
  }
}
