// A recorded request as people read it: its parts with what they are, a command for a terminal, and all its texts for a search.
import {
  type RecordedCall,
  type RecordedExchange,
  type RunRecord,
  requestBodyOf,
} from '../../../../../server/protocol/runs/run-record.ts'
import type { TimelineEntry } from '../../../../../server/protocol/runs/run-timeline.ts'

/** One field of a request, or one element of a list in it. */
export interface RequestPart {
  key: string
  field: string
  index: number | null
  /** `system`, `user`, `assistant`, `tool`, …: who speaks; else the name of the field. */
  role: string
  /** Null if it is no longer stored. */
  json: string | null
  /** Characters of the whole part. */
  characters: number
}

export type Parts = RunRecord['parts']

/** The parts of a request in the order in which they were sent. */
export function partsOf({ body }: RecordedExchange, parts: Parts): RequestPart[] {
  return body.flatMap((field): RequestPart[] => {
    const part = (hash: string, index: number | null): RequestPart => {
      const stored = parts[hash]
      const json = stored?.json ?? null
      return {
        key: `${field.name} ${index}`,
        field: field.name,
        index,
        role: (index === null ? null : roleIn(json)) ?? field.name,
        json,
        characters: stored?.characters ?? 0,
      }
    }
    if ('parts' in field) return field.parts.map(part)
    if ('part' in field) return [part(field.part, null)]
    const { name, json } = field
    return [{ key: name, field: name, index: null, role: name, json, characters: json.length }]
  })
}

/** From the text: a long part may have been cut, and is no JSON then. */
const roleIn = (json: string | null): string | null =>
  /^\{"(?:role|type)":"([\w-]{1,40})"/.exec(json ?? '')?.[1] ?? null

/** JSON on several lines; as it is if it was cut. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

/** A command that sends the request again. The shell replaces `$API_KEY`. */
export function curlOf(exchange: RecordedExchange, parts: Parts): string {
  const inDouble = (text: string): string =>
    `"${text.replace(/[\\"`]/g, '\\$&').replace(/\$(?!API_KEY\b)/g, '\\$')}"`
  const headers = Object.entries(exchange.headers).map(
    ([name, value]) => `  -H ${inDouble(`${name}: ${value}`)}`,
  )
  const body = requestBodyOf(exchange, parts).replaceAll("'", String.raw`'\''`)
  return [`curl -N ${inDouble(exchange.url)}`, ...headers, `  --data-raw '${body}'`].join(' \\\n')
}

/** A timeline entry with what is recorded of it. */
export interface InspectedEntry {
  entry: TimelineEntry
  /** Of a model call. */
  call?: RecordedCall | undefined
  /** Of a tool call. */
  tool?: RunRecord['tools'][number] | undefined
}

/** Entries as they are stored, each with its part of the record. */
export function withRecord(
  entries: readonly TimelineEntry[],
  record: RunRecord | undefined,
): InspectedEntry[] {
  let modelCalls = 0
  return entries.map((entry) => {
    if (entry.kind === 'tool')
      return { entry, tool: record?.tools.find(({ id_ref }) => id_ref === entry.id_ref) }
    modelCalls += 1
    const number = modelCalls
    return { entry, call: record?.calls.find((call) => call.number === number) }
  })
}

/** Whether some text of the entry contains the words, in any case. */
export function contains({ entry, call, tool }: InspectedEntry, words: string, parts: Parts) {
  const wanted = words.toLowerCase()
  const has = (text: string | null): boolean => text?.toLowerCase().includes(wanted) ?? false
  if (has(JSON.stringify(entry))) return true
  if (tool !== undefined && (has(tool.arguments) || has(tool.result))) return true
  return (call?.exchanges ?? []).some(
    (exchange) =>
      has(exchange.url) ||
      has(JSON.stringify(exchange.response)) ||
      partsOf(exchange, parts).some(({ json }) => has(json)),
  )
}
