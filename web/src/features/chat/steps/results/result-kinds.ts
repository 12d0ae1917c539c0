// Classifies tool results; each kind has a view. Results are untrusted: those that no schema accepts are shown as raw data.

import { z } from 'zod/mini'
import {
  type PageItem,
  readHits,
  readPages,
  type WebItem,
} from '../../../../../../server/protocol/sources/web-results.ts'
import { canonicalToolName } from '../../../../../../server/protocol/tool-names/tool-aliases.ts'
import { fieldsOf, listIn, parseJson, textIn } from '../../../../lib/read-json.ts'
import { type Cell, type Table, tableFromList } from '../../../../ui/table/table-data.ts'

/** A line that a search found. `line` counts from 1; `content` is the text of the line. */
export type FileMatch = { path: string; line: number; content: string }

/** A file or folder of a listing. `size` is in bytes, absent for folders. */
export type FileEntry = { path: string; folder: boolean; size?: number }

/** A passage of a document that a search found. `page` counts from 1. */
export type PassageItem = { document: string; heading?: string; page?: number; text: string }

/** The result of the weather tool, in the units that it names. */
export type Weather = z.infer<typeof WeatherData>

/** A named value of a result without a specific view. */
export type Fact = { name: string; value: Cell | readonly Cell[] }

/** The kind of a result, with the data that its view needs. `result-view.tsx` has one case per kind. */
export type ResultKind =
  | { kind: 'hits'; hits: readonly WebItem[] }
  | { kind: 'pages'; pages: readonly PageItem[] }
  | { kind: 'passages'; passages: readonly PassageItem[] }
  | { kind: 'matches'; matches: readonly FileMatch[]; truncated: boolean }
  | { kind: 'tree'; entries: readonly FileEntry[] }
  | { kind: 'file'; path: string; text: string; firstLine: number; totalLines: number }
  /** `totalLines` is the length of the file, of which `text` may be only the beginning; 0 if unknown. */
  | { kind: 'csv'; name: string; text: string; totalLines: number }
  | { kind: 'table'; table: Table }
  | { kind: 'calculation'; expression: string; result: number }
  | { kind: 'weather'; weather: Weather }
  | { kind: 'agents'; answers: readonly { name: string; text: string }[] }
  | { kind: 'facts'; facts: readonly Fact[] }
  | { kind: 'text'; text: string }

const optional = <T extends z.core.SomeType>(schema: T) => z.optional(z.nullable(schema))
const text = optional(z.string())
const number = optional(z.number())

const PassagesData = z.object({
  results: z.array(z.object({ document: z.string(), heading: text, page: number, text })),
})
const MatchesData = z.object({
  matches: z.array(z.object({ path: z.string(), line: z.number(), content: z.string() })),
  truncated: z.optional(z.boolean()),
})
const ListData = z.object({
  entries: z.array(z.object({ path: z.string(), type: text, size: number })),
})
const GlobData = z.object({ paths: z.array(z.string()) })
const FileData = z.object({
  path: z.string(),
  content: z.string(),
  start_line: z.optional(z.number()),
  total_lines: z.optional(z.number()),
})
const CalculationData = z.object({ expression: z.string(), result: z.number() })
const WeatherData = z.object({
  city: z.string(),
  region: text,
  country: text,
  country_code: text,
  observed_at: text,
  condition: z.string(),
  temperature: z.number(),
  feels_like: number,
  humidity: number,
  precipitation: number,
  wind_speed: number,
  units: z.object({ temperature: z.string(), wind_speed: z.string(), precipitation: text }),
  forecast: z.array(
    z.object({
      date: z.string(),
      condition: z.string(),
      max: number,
      min: number,
      rain_probability: number,
    }),
  ),
  source: text,
})
const AgentsData = z.object({
  results: z.array(z.object({ task_name: z.string(), response: text })),
})
const SliceData = z.object({ handle: z.string(), content: z.string() })

const MAX_ENTRIES = 1_000
const MAX_FACTS = 30
const MAX_FACT_ITEMS = 100

const parse = <T extends z.core.$ZodType>(schema: T, data: unknown): z.output<T> | null => {
  const read = z.safeParse(schema, data)
  return read.success ? read.data : null
}

function readFile(call: unknown, data: unknown): ResultKind | null {
  const read = parse(FileData, data)
  if (read === null) return null
  const { path, content, start_line: firstLine = 1, total_lines: totalLines = 0 } = read
  // The view adds its own line numbers.
  const shown = fieldsOf(call).line_numbers === true ? content.replace(/^\d+\t/gm, '') : content
  if (/\.[ct]sv$/i.test(path) && firstLine === 1)
    return { kind: 'csv', name: path, text: shown, totalLines }
  return { kind: 'file', path, text: shown, firstLine, totalLines }
}

function readTree(data: unknown): ResultKind | null {
  const list = parse(ListData, data)
  if (list !== null)
    return {
      kind: 'tree',
      entries: list.entries.slice(0, MAX_ENTRIES).map(({ path, type, size }) => ({
        path,
        folder: type === 'directory',
        ...(size == null ? {} : { size }),
      })),
    }
  const found = parse(GlobData, data)
  return found === null
    ? null
    : {
        kind: 'tree',
        entries: found.paths.slice(0, MAX_ENTRIES).map((path) => ({ path, folder: false })),
      }
}

function readMatches(data: unknown): ResultKind | null {
  const read = parse(MatchesData, data)
  if (read === null) return null
  const { matches, truncated = false } = read
  return { kind: 'matches', matches: matches.slice(0, MAX_ENTRIES), truncated }
}

function readPassages(data: unknown): ResultKind | null {
  const read = parse(PassagesData, data)
  if (read === null) return null
  const passages = read.results.map(({ document, heading, page, text: passage }) => ({
    document,
    text: passage ?? '',
    ...(heading ? { heading } : {}),
    ...(page == null ? {} : { page }),
  }))
  return { kind: 'passages', passages }
}

function readAgents(data: unknown): ResultKind | null {
  const read = parse(AgentsData, data)
  const answers = read?.results.flatMap(({ task_name: name, response }) =>
    response ? [{ name, text: response }] : [],
  )
  return answers === undefined || answers.length === 0 ? null : { kind: 'agents', answers }
}

const isCell = (value: unknown): value is Cell =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** A few plain values with their names. */
function readFacts(data: unknown): ResultKind | null {
  const entries = Object.entries(fieldsOf(data))
  if (entries.length === 0 || entries.length > MAX_FACTS) return null
  const facts: Fact[] = []
  for (const [name, value] of entries) {
    if (isCell(value)) facts.push({ name, value })
    else if (Array.isArray(value) && value.length <= MAX_FACT_ITEMS && value.every(isCell))
      facts.push({ name, value })
    else return null
  }
  return { kind: 'facts', facts }
}

/** A list of objects, alone or as the only list among plain values. */
function readTable(data: unknown): ResultKind | null {
  const lists = Array.isArray(data)
    ? [data]
    : Object.values(fieldsOf(data)).filter((value) => !isCell(value))
  const table = lists.length === 1 ? tableFromList(lists[0]) : null
  return table === null ? null : { kind: 'table', table }
}

/** The kind of a result of any tool: a table, named values, or a text. */
export function readAnything(data: unknown): ResultKind | null {
  const value = typeof data === 'string' ? (parseJson(data) ?? data) : data
  if (typeof value === 'string') return value.trim() === '' ? null : { kind: 'text', text: value }
  const [name, only] = Object.entries(fieldsOf(value))[0] ?? []
  if (name === 'result' && typeof only === 'string') return { kind: 'text', text: only }
  return readTable(value) ?? readFacts(value)
}

function readKnown(name: string, call: unknown, data: unknown): ResultKind | null {
  switch (name) {
    case 'web_search': {
      const hits = readHits(data)
      return hits === null ? null : { kind: 'hits', hits }
    }
    case 'search_knowledge':
      return readPassages(data)
    case 'file_read':
      return readFile(call, data)
    case 'file_list':
    case 'file_glob':
      return readTree(data)
    case 'file_grep':
      return readMatches(data)
    case 'multi_agent':
      return readAgents(data)
    case 'calculator': {
      const read = parse(CalculationData, data)
      return read === null ? null : { kind: 'calculation', ...read }
    }
    case 'get_weather': {
      const weather = parse(WeatherData, data)
      return weather === null ? null : { kind: 'weather', weather }
    }
    default:
      return null
  }
}

/**
 * The kind of a successful result, from the tool's name, its arguments (JSON text), data and artifact. Null: only the raw
 * data can be shown. Tools of MCP servers are never treated as built-in ones.
 */
export function readResult(
  tool: string,
  callArguments: string,
  data: unknown,
  artifact?: unknown,
): ResultKind | null {
  const name = canonicalToolName(tool)
  const pages = readPages(name, data, artifact)
  if (pages !== null) return { kind: 'pages', pages }
  const known = readKnown(name, parseJson(callArguments), data)
  if (known !== null) return known
  const slice = parse(SliceData, data)
  if (slice !== null) return { kind: 'text', text: slice.content }
  return readAnything(data)
}

/** The CSV files that a program wrote, from the artifact of its result. */
export const csvFilesIn = (artifact: unknown): readonly { name: string; data: string }[] =>
  listIn(fieldsOf(artifact).files).flatMap((file) => {
    const { name, mime, data } = fieldsOf(file)
    const address = textIn(data)
    return mime === 'text/csv' && typeof name === 'string' && address !== undefined
      ? [{ name, data: address }]
      : []
  })
