// Mends what MCP servers send before the SDK reads it: one odd field or element must not cost everything beside it.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { asRecord, asText, isRecord } from '../../../lib/records.ts'
import type { McpProblem } from '../../../protocol/models/mcp.ts'

type Fields = Record<string, unknown>
type ListKind = McpProblem['kind']

/** An element of a list: mended, or left out (`value` is undefined), with what was wrong. */
interface Mended {
  value: Fields | undefined
  problem?: Omit<McpProblem, 'kind'>
}

const MAX_NAME = 1_000
const MAX_URI = 4_000
/** More problems of one list say nothing more. */
const MAX_PROBLEMS = 50
/** Characters of a name or of a list of fields, as administrators see them. */
const MAX_SHOWN = 200
/** Elements of one page of a list, and parts of one result, that are read. Checking hundreds of thousands takes seconds. */
const MAX_ELEMENTS = 1_000
/** Functions that call themselves for each level fail on deeper values. */
const MAX_LEVELS = 500
/** Requests that are remembered until their response comes. */
const MAX_ASKED = 1_000
/** Maximum length of a content of unknown type that is passed on as JSON. */
const MAX_UNKNOWN = 20_000

interface Listing {
  kind: ListKind
  /** Where the elements are in the result. */
  key: string
  mend(element: Fields): Mended
}

const LISTINGS: Readonly<Record<string, Listing>> = {
  'tools/list': { kind: 'tool', key: 'tools', mend: mendTool },
  'prompts/list': { kind: 'prompt', key: 'prompts', mend: mendPrompt },
  'resources/list': {
    kind: 'resource',
    key: 'resources',
    mend: (one) => mendAddressed(one, 'uri'),
  },
  'resources/templates/list': {
    kind: 'template',
    key: 'resourceTemplates',
    mend: (one) => mendAddressed(one, 'uriTemplate'),
  },
}

const RESULTS: Readonly<Record<string, (result: Fields, params: Fields) => Fields>> = {
  initialize: mendInitialize,
  'tools/call': mendCallResult,
  'prompts/get': mendPromptResult,
  'resources/read': mendReadResult,
}

/**
 * Remembers the requests that the transport sends. Call it before the transport is used.
 * @param onProblems receives what was odd in a list. `isWhole` says that earlier problems of this kind are obsolete.
 * @returns mends a message that the transport receives, in place.
 */
export function createMender(
  transport: Transport,
  onProblems: (kind: ListKind, problems: McpProblem[], isWhole: boolean) => void,
): (message: JSONRPCMessage) => void {
  /** The newest requests without a response, by id, with the parameters that `RESULTS` and lists need. */
  const asked = new Map<string | number, { method: string; params: Fields }>()
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if ('method' in message && 'id' in message && isMended(message.method)) {
      const { uri, cursor } = asRecord(message.params) ?? {}
      asked.set(message.id, { method: message.method, params: { uri, cursor } })
      const [oldest] = asked.keys()
      // Calls that were stopped never get a response.
      if (asked.size > MAX_ASKED && oldest !== undefined) asked.delete(oldest)
    }
    await send(message, options)
  }
  return (message) => {
    if (!('id' in message) || message.id === undefined || 'method' in message) return
    const request = asked.get(message.id)
    asked.delete(message.id)
    if (request === undefined || !('result' in message) || !isRecord(message.result)) return
    const isList = Object.hasOwn(LISTINGS, request.method)
    if (isList || !isDeep(message.result, MAX_LEVELS))
      message.result = mendResult(request, message.result, onProblems)
    else {
      Reflect.deleteProperty(message, 'result')
      Reflect.set(message, 'error', { code: -32_000, message: TOO_DEEP })
    }
  }
}

const TOO_DEEP = 'The answer is nested too deeply, so it was not read. The call has run.'

/** Whether a value has more levels of lists and objects than this. */
function isDeep(value: unknown, levels: number): boolean {
  let open: unknown[] = [value]
  for (let level = 0; open.length > 0; level += 1) {
    if (level > levels) return true
    open = open.flatMap((one): unknown[] =>
      typeof one === 'object' && one !== null
        ? Object.values(one).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    )
  }
  return false
}

const isMended = (method: string): boolean =>
  Object.hasOwn(LISTINGS, method) || Object.hasOwn(RESULTS, method)

function mendResult(
  { method, params }: { method: string; params: Fields },
  result: Fields,
  onProblems: Parameters<typeof createMender>[1],
): Fields {
  const listing = Object.hasOwn(LISTINGS, method) ? LISTINGS[method] : undefined
  if (listing === undefined)
    return RESULTS[method]?.(withoutNull(result, '_meta'), params) ?? result
  const { value, problems } = mendList(listing, result)
  onProblems(listing.kind, problems, params.cursor === undefined)
  return value
}

/** The same list without elements that cannot be used, the others with only the fields that can. */
function mendList({ kind, key, mend }: Listing, result: Fields) {
  const { nextCursor, _meta, ...rest } = result
  const listed = Array.isArray(rest[key]) ? rest[key].slice(0, MAX_ELEMENTS) : []
  const problems: McpProblem[] = []
  const elements: Fields[] = []
  for (const [at, element] of listed.entries()) {
    const { value, problem } = isRecord(element)
      ? mend(element)
      : { value: undefined, problem: { name: `#${at + 1}`, problem: 'unreadable' as const } }
    if (value !== undefined) elements.push(value)
    if (problem !== undefined && problems.length < MAX_PROBLEMS)
      problems.push({ kind, ...problem, name: shown(problem.name || `#${at + 1}`) })
  }
  const value: Fields = {
    ...rest,
    ...(isRecord(_meta) && !isDeep(_meta, MAX_LEVELS) ? { _meta } : {}),
    ...(typeof nextCursor === 'string' && nextCursor !== '' ? { nextCursor } : {}),
    [key]: elements,
  }
  return { value, problems }
}

const shown = (text: string): string => text.slice(0, MAX_SHOWN)

/** Reads fields of one element; remembers those of a wrong type, which count as absent. `null` is absent, too. */
function reader(from: Fields) {
  const ignored: string[] = []
  const read = <Value>(key: string, accepts: (value: unknown) => Value | undefined) => {
    const given = from[key]
    if (given === undefined || given === null) return {}
    const value = accepts(given)
    if (value === undefined) ignored.push(key)
    return value === undefined ? {} : { [key]: value }
  }
  return {
    text: (key: string) => read(key, (value) => (typeof value === 'string' ? value : undefined)),
    record: (key: string) =>
      read(key, (value) => (isDeep(value, MAX_LEVELS) ? undefined : asRecord(value))),
    read,
    problemOf: (name: string): Pick<Mended, 'problem'> =>
      ignored.length === 0
        ? {}
        : { problem: { name, problem: 'fields_ignored', fields: shown(ignored.join(', ')) } },
  }
}

const isUsableName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= MAX_NAME

/**
 * Output schemas, icons and the rest of a tool's description are not used, so they are not passed on and cannot be odd.
 */
function mendTool(tool: Fields): Mended {
  const name = asText(tool.name)
  if (!isUsableName(tool.name))
    return { value: undefined, problem: { name, problem: 'unreadable' } }
  if (isDeep(tool.inputSchema, MAX_LEVELS))
    return { value: undefined, problem: { name, problem: 'schema_too_large' } }
  const inputSchema = mendInputSchema(tool.inputSchema)
  if (inputSchema === undefined)
    return { value: undefined, problem: { name, problem: 'schema_unusable' } }
  const fields = reader(tool)
  const hints = fields.read('annotations', (value) => {
    const given = asRecord(value)
    if (given === undefined) return undefined
    const { title, ...flags } = given
    return Object.fromEntries([
      ...(typeof title === 'string' ? [['title', title]] : []),
      ...Object.entries(flags).filter(([, flag]) => typeof flag === 'boolean'),
    ])
  })
  return {
    value: {
      name,
      ...fields.text('title'),
      ...fields.text('description'),
      ...hints,
      ...fields.record('_meta'),
      inputSchema,
    },
    ...fields.problemOf(name),
  }
}

/**
 * An absent or empty schema takes no arguments that are known, and `true` takes any. Undefined for a schema whose values are
 * not objects: arguments always are.
 */
function mendInputSchema(given: unknown): Fields | undefined {
  if (given === undefined || given === null || given === true)
    return { type: 'object', properties: {} }
  const schema = asRecord(given)
  if (schema === undefined) return undefined
  const { type, properties, required, $schema, ...rest } = schema
  const isObject =
    type === undefined ||
    type === null ||
    (typeof type === 'string' && type.toLowerCase() === 'object') ||
    (Array.isArray(type) && type.includes('object'))
  if (!isObject) return undefined
  const names = Array.isArray(required) ? required.filter((one) => typeof one === 'string') : []
  return {
    ...rest,
    ...(typeof $schema === 'string' ? { $schema } : {}),
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(asRecord(properties) ?? {}).map(([name, one]) => [
        name,
        isRecord(one) || typeof one === 'boolean' ? one : {},
      ]),
    ),
    ...(names.length === 0 ? {} : { required: [...new Set(names)] }),
  }
}

function mendPrompt(prompt: Fields): Mended {
  const name = asText(prompt.name)
  if (!isUsableName(prompt.name))
    return { value: undefined, problem: { name, problem: 'unreadable' } }
  const fields = reader(prompt)
  const list = fields.read('arguments', (value) =>
    Array.isArray(value)
      ? value.flatMap((one) => {
          const given = asRecord(one) ?? {}
          if (!isUsableName(given.name)) return []
          const argument = reader(given)
          return [
            {
              name: given.name,
              ...argument.text('description'),
              ...argument.read('required', (flag) =>
                typeof flag === 'boolean' ? flag : undefined,
              ),
            },
          ]
        })
      : undefined,
  )
  return {
    value: {
      name,
      ...fields.text('title'),
      ...fields.text('description'),
      ...list,
      ...fields.record('_meta'),
    },
    ...fields.problemOf(name),
  }
}

/** A resource or a template of resources; without a name, its address is its name. */
function mendAddressed(element: Fields, key: 'uri' | 'uriTemplate'): Mended {
  const address = element[key]
  const name = asText(element.name) || asText(address)
  if (typeof address !== 'string' || address === '' || address.length > MAX_URI)
    return { value: undefined, problem: { name, problem: 'unreadable' } }
  const fields = reader(element)
  return {
    value: {
      [key]: address,
      name,
      ...fields.text('title'),
      ...fields.text('description'),
      ...fields.text('mimeType'),
      ...fields.read('size', (size) =>
        typeof size === 'number' && Number.isFinite(size) ? size : undefined,
      ),
      ...fields.record('_meta'),
    },
    ...fields.problemOf(name),
  }
}

const CAPABILITIES = ['tools', 'prompts', 'resources', 'logging', 'completions']

function mendInitialize(result: Fields): Fields {
  const { capabilities, serverInfo, instructions, ...rest } = result
  const { name, version } = asRecord(serverInfo) ?? {}
  const offered = Object.entries(asRecord(capabilities) ?? {}).flatMap(([key, value]) => {
    if (value === null || value === false) return []
    if (isRecord(value)) return [[key, withoutNull(value, 'listChanged')]]
    return CAPABILITIES.includes(key) ? [[key, {}]] : []
  })
  return {
    ...rest,
    capabilities: Object.fromEntries(offered),
    serverInfo: { name: asText(name) || 'unnamed', version: asText(version) },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  }
}

const withoutNull = (record: Fields, key: string): Fields => {
  if (record[key] !== null) return record
  const { [key]: _null, ...rest } = record
  return rest
}

/** A call that asks for input first has its own form, which is read elsewhere. */
function mendCallResult(result: Fields): Fields {
  // Revision 2024-10-07 had `toolResult`, which may be any value.
  const { resultType, content, structuredContent, isError, toolResult, ...rest } = result
  if (resultType !== undefined && resultType !== 'complete') return result
  const isOther = [content, structuredContent, toolResult].every((one) => one === undefined)
  // Results of other methods: the SDK says what is wrong with them.
  if (isOther && Object.keys(rest).some((key) => key !== '_meta')) return result
  const blocks = blocksOf(content ?? toolResult)
  const isStructured = structuredContent !== undefined && structuredContent !== null
  // Before revision 2026-07-28, structured content had to be an object. A text says the same.
  const isRead = isStructured && (isRecord(structuredContent) || resultType !== undefined)
  if (isStructured && !isRead && blocks.length === 0)
    blocks.push({ type: 'text', text: JSON.stringify(structuredContent) })
  return {
    ...rest,
    ...(resultType === undefined ? {} : { resultType }),
    content: blocks,
    ...(isRead ? { structuredContent } : {}),
    ...(isError === true || isError === 'true' ? { isError: true } : {}),
  }
}

function mendPromptResult(result: Fields): Fields {
  const { messages, description, ...rest } = result
  if (!Array.isArray(messages)) return result
  return {
    ...rest,
    ...(typeof description === 'string' ? { description } : {}),
    messages: messages.flatMap((message) => {
      const { role, content } = asRecord(message) ?? {}
      return blocksOf(isRecord(content) ? [content] : content).map((block) => ({
        role: role === 'assistant' ? 'assistant' : 'user',
        content: block,
      }))
    }),
  }
}

function mendReadResult(result: Fields, params: Fields): Fields {
  const { contents, ...rest } = result
  if (!Array.isArray(contents)) return result
  return { ...rest, contents: contents.flatMap((one) => resourceOf(one, asText(params.uri)) ?? []) }
}

/** Undefined if it has no content. */
function resourceOf(given: unknown, address = ''): Fields | undefined {
  const resource = asRecord(given) ?? {}
  const { text, blob, uri } = resource
  const fields = reader(resource)
  const base = {
    uri: asText(uri) || address,
    ...fields.text('mimeType'),
    ...fields.record('_meta'),
  }
  if (typeof text === 'string') return { ...base, text }
  const bytes = base64Of(blob)
  return bytes === undefined ? undefined : { ...base, blob: bytes }
}

/** The contents of a result, each in a form that the SDK reads. What has another form becomes its JSON text. */
function blocksOf(content: unknown): Fields[] {
  if (content === undefined || content === null) return []
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  const blocks: Fields[] = []
  /** Texts in a row are one part: readers put them below each other in any case. */
  let lines: string[] = []
  const endText = (): void => {
    if (lines.length > 0) blocks.push(textBlock(lines.join('\n')))
    lines = []
  }
  for (const [at, one] of parts.entries()) {
    if (blocks.length >= MAX_ELEMENTS) {
      lines.push(`[${parts.length - at} further parts: not read]`)
      break
    }
    const block = blockOf(one)
    if (block?.type === 'text') {
      if (block.text !== '') lines.push(asText(block.text))
    } else if (block !== undefined) {
      endText()
      blocks.push(block)
    }
  }
  endText()
  return blocks
}

function blockOf(given: unknown): Fields | undefined {
  if (given === undefined || given === null) return undefined
  const block = asRecord(given)
  if (block === undefined) return textBlock(typeof given === 'string' ? given : jsonOf(given))
  const { type, text, data, mimeType } = block
  const written = pictureOf(block)
  if (written !== undefined) return blockOf(written)
  if (type === 'text' || (type === undefined && text !== undefined))
    return textBlock(typeof text === 'string' ? text : jsonOf(text ?? ''))
  if (type === 'image' || type === 'audio') {
    const plain = base64Of(data)
    return plain !== undefined
      ? { type, data: plain, mimeType: asText(mimeType) || mimeOf(asText(data), type) }
      : textBlock(`[${type} without readable data]`)
  }
  if (type === 'resource') {
    const resource = resourceOf(block.resource ?? block)
    return resource === undefined
      ? textBlock(`[resource without content: ${asText(asRecord(block.resource)?.uri)}]`)
      : { type, resource }
  }
  if (type === 'resource_link') {
    const { value } = mendAddressed(block, 'uri')
    return value === undefined ? textBlock('[link without an address]') : { type, ...value }
  }
  return textBlock(jsonOf(block))
}

/** A picture in the forms of Anthropic's and OpenAI's APIs, as MCP writes it; undefined for everything else. */
function pictureOf({ type, data, source, image_url: link }: Fields): Fields | undefined {
  const bytes = asRecord(source)
  if (type === 'image' && data === undefined && bytes?.data !== undefined)
    return { type, data: bytes.data, mimeType: bytes.media_type }
  const url = asText(asRecord(link)?.url) || asText(link)
  return type === 'image_url' && url.startsWith('data:image/')
    ? { type: 'image', data: url }
    : undefined
}

const textBlock = (text: string): Fields => ({ type: 'text', text })

const jsonOf = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > MAX_UNKNOWN ? `${text.slice(0, MAX_UNKNOWN)}… [cut: too long]` : text
}

const mimeOf = (data: string, type: string): string =>
  /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(data)?.[1] ?? (type === 'image' ? 'image/png' : 'audio/wav')

/** Standard base64 with its padding, from what a server calls base64; undefined if it is none. */
function base64Of(given: unknown): string | undefined {
  const text = asText(given).replace(/^data:[^,]*,/, '')
  // Decodes both alphabets and skips all other characters: bytes are missing then.
  const bytes = Buffer.from(text, 'base64')
  const digits = digitsIn(text)
  return digits > 0 && digits % 4 !== 1 && bytes.length === Math.floor((digits * 3) / 4)
    ? bytes.toString('base64')
    : undefined
}

/** Number of characters without white space and the padding. A loop, because a picture has millions. */
function digitsIn(text: string): number {
  let end = text.length
  while (end > 0 && (isSpace(text.charCodeAt(end - 1)) || text[end - 1] === '=')) end -= 1
  let digits = 0
  for (let at = 0; at < end; at += 1) if (!isSpace(text.charCodeAt(at))) digits += 1
  return digits
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)
