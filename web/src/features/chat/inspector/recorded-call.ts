// Converts a recorded request for display: its parts with their roles, a curl command, and its texts for the search.
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
  /** The role of a message (`system`, `user`, `assistant`, `tool`, …), else the name of the field. */
  role: string
  /** Null if the part is no longer stored. */
  json: string | null
  /** The length of the whole part. */
  characters: number
}

/** The recorded texts, by hash. */
export type Parts = RunRecord['parts']

/** The parts of a request, in the order of the request. */
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

/** Reads the role from the text, because a long part may be cut and is then not valid JSON. */
const roleIn = (json: string | null): string | null =>
  /^\{"(?:role|type)":"([\w-]{1,40})"/.exec(json ?? '')?.[1] ?? null

/** Indents JSON; returns it unchanged if it was cut. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

/** A curl command that sends the request again. The shell expands `$API_KEY`. */
export function curlOf(exchange: RecordedExchange, parts: Parts): string {
  const inDouble = (text: string): string =>
    `"${text.replace(/[\\"`]/g, '\\$&').replace(/\$(?!API_KEY\b)/g, '\\$')}"`
  const headers = Object.entries(exchange.headers).map(
    ([name, value]) => `  -H ${inDouble(`${name}: ${value}`)}`,
  )
  const body = requestBodyOf(exchange, parts).replaceAll("'", String.raw`'\''`)
  return [`curl -N ${inDouble(exchange.url)}`, ...headers, `  --data-raw '${body}'`].join(' \\\n')
}

/** A timeline entry with its part of the record. */
export interface InspectedEntry {
  entry: TimelineEntry
  /** For a model call. */
  call?: RecordedCall | undefined
  /** For a tool call. */
  tool?: RunRecord['tools'][number] | undefined
}

/** Joins the timeline entries, in their order, with the record. */
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

/** Whether a text of the entry contains the words, regardless of case. */
export function contains({ entry, call, tool }: InspectedEntry, words: string, parts: Parts) {
  const search = words.toLowerCase()
  const has = (text: string | null): boolean => text?.toLowerCase().includes(search) ?? false
  if (has(JSON.stringify(entry))) return true
  if (tool !== undefined && (has(tool.arguments) || has(tool.result))) return true
  return (call?.exchanges ?? []).some(
    (exchange) =>
      has(exchange.url) ||
      has(JSON.stringify(exchange.response)) ||
      partsOf(exchange, parts).some(({ json }) => has(json)),
  )
}
