// The calls of models: which tools a history calls, and what an unusual name or form of arguments can only mean.
import { isRecord } from '../lib/records.ts'
import type { LlmMessage, ToolSchema } from './client.ts'
import { readTolerantly } from './tolerant-json.ts'

/** Longer damaged arguments are not repaired: reading them takes milliseconds. */
const MAX_REPAIR_CHARACTERS = 200_000
/** How often arguments may be written as the text of a JSON text. */
const MAX_ENCODINGS = 3

/** What models put before the names of all tools. Any other prefix may name an MCP server, whose tool is then meant. */
const NAMESPACES: ReadonlySet<string> = new Set(['functions', 'default_api', 'tools', 'tool'])

/**
 * The offered tool that a name means, however it is decorated: `functions.x`, `default_api.x`, `x:0`, `x<|channel|>…`,
 * another case or separator, an MCP tool without its prefix. The trimmed name itself if no tool or several can be meant.
 */
export function meantTool(name: string, offered: Iterable<string>): string {
  const names = new Set(offered)
  const plain = name.trim()
  if (names.has(plain)) return plain
  // Marks that leaked into the name, an argument list, and the number that Kimi adds.
  const bare = plain
    .replace(/[<(][\s\S]*$/, '')
    .replace(/:\d+\s*$/, '')
    .trim()
  if (names.has(bare)) return bare
  const parts = bare.split(/[.:/]/).filter((part) => part !== '')
  const ends = endsOf(parts)
  const known = ends.find((end) => names.has(end))
  if (known !== undefined) return known
  const repeated = /^(.+?)\1+$/.exec(bare)?.[1]
  if (repeated !== undefined && names.has(repeated)) return repeated
  const meant = new Set(ends.map(normalized))
  return (
    onlyOne(names, (one) => meant.has(normalized(one))) ??
    onlyOne(names, (one) => mcpForms(one).includes(normalized(bare))) ??
    onlyOne(names, (one) => mcpForms(one).some((form) => meant.has(form))) ??
    (bare === '' ? plain : bare)
  )
}

function onlyOne(names: Iterable<string>, isMeant: (name: string) => boolean): string | undefined {
  const found = [...names].filter(isMeant)
  return found.length === 1 ? found[0] : undefined
}

/** Without case and separators: `getCurrentTime` and `get-current-time` are equal. */
const normalized = (name: string): string => name.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase()

/** A dotted name, and what remains without namespaces before it. */
function endsOf(parts: readonly string[]): string[] {
  const first = parts.findIndex((part) => !NAMESPACES.has(part.toLowerCase()))
  const length = first === -1 ? parts.length : first + 1
  return Array.from({ length }, (_, at) => parts.slice(at).join('.'))
}

/** What models call `mcp__server__tool`, without the prefix or without the server. */
function mcpForms(name: string): string[] {
  const [prefix, server, ...tool] = name.split('__')
  if (prefix !== 'mcp' || server === undefined || tool.length === 0) return []
  return [normalized(`${server}${tool.join('')}`), normalized(tool.join(''))]
}

/**
 * The arguments of a call as the text of one JSON object. Accepts none at all, `null`, a JSON text in a JSON text, a fence or
 * marks around the object, an empty object before the real one, and slight damage.
 * Null if nobody can tell what is meant: then the call must be refused.
 * @param options.isCut whether the response was cut off, so that the end may be missing.
 */
export function readableArguments(text: string, options: { isCut: boolean }): string | null {
  return readEncoded(text, options.isCut, 0)
}

function readEncoded(text: string, isCut: boolean, encodings: number): string | null {
  const source = text.trim()
  if (source === '' || /^(?:null|none|undefined)$/i.test(source)) return isCut ? null : '{}'
  const value = parse(source)
  if (isRecord(value)) return source
  if (value === null) return '{}'
  // PHP writes an empty object as an empty list.
  if (Array.isArray(value)) return value.length === 0 ? '{}' : null
  if (typeof value === 'string')
    return encodings < MAX_ENCODINGS ? readEncoded(value, isCut, encodings + 1) : null
  if (value !== undefined || source.length > MAX_REPAIR_CHARACTERS) return null
  return readDamaged(withoutFrame(source), isCut)
}

/** One object, or several that say the same: Bedrock sends an empty one before the real one. */
function readDamaged(source: string, isCut: boolean): string | null {
  const objects: string[] = []
  let rest = source
  while (rest !== '') {
    const read = readTolerantly(rest, { mayClose: !isCut })
    if (read === null || !read.json.startsWith('{')) return null
    objects.push(read.json)
    // Surplus brackets mean nothing.
    rest = rest.slice(read.end).replace(/^[\s}\],;]+/, '')
  }
  const said = [...new Set(objects.filter((json) => json !== '{}'))]
  if (said.length > 1 || objects.length === 0) return null
  return said[0] ?? '{}'
}

const FENCE = '```'
/** A mark of a chat template, which is the whole text. */
const LEAKED_MARK = /^<[/|｜][^<>"'{}]{1,40}>$/

/** Without a code fence around it, and without marks of chat templates that leaked into its end. Takes linear time. */
function withoutFrame(source: string): string {
  let text = source
  if (text.startsWith(FENCE)) {
    text = text.replace(/^```[\w-]*/, '')
    if (text.endsWith(FENCE)) text = text.slice(0, -FENCE.length)
    text = text.trim()
  }
  while (text.endsWith('>')) {
    const start = text.lastIndexOf('<')
    if (start === -1 || !LEAKED_MARK.test(text.slice(start))) break
    text = text.slice(0, start).trimEnd()
  }
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The maximum length of tool names in each of the APIs. */
const MAX_NAME_LENGTH = 64

/** Providers reject a history that contains a made-up tool name, unless it has the form of one. */
export const sendableName = (name: string): string =>
  name.slice(0, MAX_NAME_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_')

/** One definition per name, sorted. The tools may no longer exist, so tell the model not to call any. */
export function calledTools(messages: readonly LlmMessage[]): ToolSchema[] {
  const names = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.toolCalls ?? []).map(({ name }) => sendableName(name))
        : [],
    ),
  )
  return [...names].sort().map((name) => ({
    type: 'function',
    function: {
      name,
      description: 'Not available any more.',
      parameters: { type: 'object', properties: {} },
    },
  }))
}
