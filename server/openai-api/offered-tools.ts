// Reads the tools that a program offers, of whatever kind, and names them in the form in which they were offered.
import { createHash } from 'node:crypto'
import type { ProgramRequest } from '../chat/program-runs.ts'
import type { ProgramTools } from '../protocol/accounts/user.ts'
import type { ToolChoice } from '../protocol/conversations/message.ts'
import type {
  AnyToolChoice,
  ChatTool,
  EchoedTool,
  ResponseTool,
  SingleTool,
} from '../protocol/openai/tools.ts'
import type { ClientTool } from '../runs/state.ts'

/** The longest name of a function that every provider accepts. */
const MAX_NAME_CHARACTERS = 64
/** The maximum number of warnings in a response: they name what a program has made up. */
const MAX_WARNINGS = 20
/** Enough of a hash to tell names apart that are cut. */
const HASH_CHARACTERS = 8

/**
 * Names by which programs ask for a web search (https://platform.openai.com/docs/guides/tools-web-search,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool).
 */
const WEB_SEARCH = /^web_search(?:_preview)?(?:_\d{4}_?\d{2}_?\d{2})?$/
const WEB_SEARCH_TOOL = 'web_search'
/** The tools of the server that a program's `web_search` stands for: it also opens pages. */
const WEB_SEARCH_TOOLS: readonly string[] = [WEB_SEARCH_TOOL, 'fetch_page']

const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The text for the tool.' } },
  required: ['input'],
  additionalProperties: false,
}

/** What a program offers, as the run needs it. */
export interface OfferedTools {
  clientTools: ClientTool[]
  toolChoice: ToolChoice | undefined
  /** Whether the program brings tools, of whatever kind. */
  bringsTools: boolean
  /** Whether it asks for the web search of the server. */
  searchesWeb: boolean
  /** What is left out, a line for each kind. */
  warnings: string[]
}

/** A tool of chat completions in the form of the Responses API. */
function toResponseTool(tool: ChatTool): ResponseTool {
  if (tool.type === 'function') return { type: 'function', ...tool.function }
  return tool.type === 'custom' ? { type: 'custom', ...tool.custom } : tool
}

/** Reads the tools of a chat completion. */
export const readChatTools = (
  tools: readonly ChatTool[] | undefined,
  choice: AnyToolChoice | undefined,
): OfferedTools => readTools(tools?.map(toResponseTool), choice)

/** Reads the tools of a request, and which of them the model must call. */
export function readTools(
  tools: readonly ResponseTool[] = [],
  choice: AnyToolChoice | undefined,
): OfferedTools {
  const clientTools = new Map<string, ClientTool>()
  const leftOut = new Set<string>()
  let searchesWeb = false
  const add = (tool: SingleTool, namespace?: string): void => {
    const one = clientToolOf(tool, namespace)
    if (clientTools.has(one.name)) leftOut.add(`another tool with the name ${one.name}`)
    else clientTools.set(one.name, one)
  }
  for (const tool of tools) {
    if (tool.type === 'other') {
      if (WEB_SEARCH.test(tool.kind)) searchesWeb = true
      else leftOut.add(`tools of the kind ${tool.kind}`)
    } else if (tool.type !== 'namespace') add(tool)
    else
      for (const inner of tool.tools)
        if (inner.type === 'other') leftOut.add(`tools of the kind ${inner.kind}`)
        else add(inner, tool.name)
  }
  const warnings = [...leftOut].map((what) => `Left out: ${what}. The server does not offer them.`)
  return {
    ...readChoice(choice, [...clientTools.values()], warnings),
    bringsTools: tools.length > 0,
    searchesWeb,
    warnings,
  }
}

function clientToolOf(tool: SingleTool, namespace: string | undefined): ClientTool {
  const { name, description = '' } = tool
  const isCustom = tool.type === 'custom'
  const isPlain = namespace === undefined && !isCustom
  return {
    name: calledName(name, namespace),
    description: isCustom ? withGrammar(description, tool.format) : description,
    parameters: isCustom
      ? CUSTOM_PARAMETERS
      : (tool.parameters ?? { type: 'object', properties: {} }),
    ...(isPlain
      ? {}
      : { offeredAs: { name, isCustom, ...(namespace === undefined ? {} : { namespace }) } }),
  }
}

/** The name by which the model calls a tool of a namespace. The same for the same tool in every request. */
export function calledName(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name
  const whole = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`
  if (whole.length <= MAX_NAME_CHARACTERS) return whole
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, HASH_CHARACTERS)
  return `${whole.slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`
}

/** A model that is not restricted to the grammar of a tool's text at least reads it. */
function withGrammar(description: string, format: object | undefined): string {
  const { grammar, definition, syntax } = Object(format)
  const { definition: text = definition, syntax: kind = syntax } = Object(grammar)
  if (typeof text !== 'string') return description
  return `${description}\n\nThe text follows this grammar (${String(kind)}):\n${text}`.trim()
}

/** The arguments with which a model calls a tool whose input is a text. */
export const customArguments = (input: string): string => JSON.stringify({ input })

/** The text in the arguments of a call; the arguments themselves if the model did not write an object. */
export function customInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string') return value
    const { input } = Object(value)
    return typeof input === 'string' ? input : text
  } catch {
    return text
  }
}

/** The tools of a run, as its response repeats them. */
export function echoTools(tools: readonly ClientTool[], searchesWeb: boolean): EchoedTool[] {
  const echoed: EchoedTool[] = []
  const namespaces = new Map<string, EchoedTool[]>()
  for (const { name, description, parameters, offeredAs } of tools) {
    const one: EchoedTool =
      offeredAs?.isCustom === true
        ? { type: 'custom', name: offeredAs.name, description }
        : {
            type: 'function',
            name: offeredAs?.name ?? name,
            description,
            parameters,
            strict: false,
          }
    const namespace = offeredAs?.namespace
    const siblings = namespace === undefined ? echoed : namespaces.get(namespace)
    if (siblings !== undefined) siblings.push(one)
    else if (namespace !== undefined) {
      const inner = [one]
      namespaces.set(namespace, inner)
      echoed.push({ type: 'namespace', name: namespace, description: '', tools: inner })
    }
  }
  return searchesWeb ? [...echoed, { type: 'web_search' }] : echoed
}

/** Applies the program's choice among its tools. Adds a warning for a choice that the server does not know. */
function readChoice(
  choice: AnyToolChoice | undefined,
  clientTools: ClientTool[],
  warnings: string[],
): Pick<OfferedTools, 'clientTools' | 'toolChoice'> {
  if (choice === undefined || typeof choice === 'string') return { clientTools, toolChoice: choice }
  const nameOf = (one: Named): string =>
    calledName(one.name ?? one.function?.name ?? one.custom?.name ?? '', one.namespace)
  if (choice.type === 'allowed_tools') {
    const { mode = 'auto', tools = [] } = choice.allowed_tools ?? choice
    const allowed = new Set(tools.map(nameOf))
    return {
      clientTools: clientTools.filter(({ name }) => allowed.has(name)),
      toolChoice: mode,
    }
  }
  const name = WEB_SEARCH.test(choice.type) ? WEB_SEARCH_TOOL : nameOf(choice)
  if (name === '') {
    warnings.push(`Left out: the tool choice ${choice.type}. The server does not offer it.`)
    return { clientTools, toolChoice: undefined }
  }
  return { clientTools, toolChoice: { type: 'function', function: { name } } }
}

type Named = Pick<Exclude<AnyToolChoice, string>, 'name' | 'namespace' | 'function' | 'custom'>

/**
 * The tools of an answer: a program that brings tools of its own gets none of the server's unless it asks for them.
 * @param asked what the body of the request says.
 * @param wish what the model's name, a header or the API key say, in this order.
 */
export function toolsOfAnswer(
  offered: OfferedTools,
  asked: boolean | undefined,
  wish: ProgramTools | undefined,
): Pick<
  ProgramRequest,
  'toolsEnabled' | 'serverTools' | 'searchesWeb' | 'warnings' | 'toolChoice' | 'clientTools'
> {
  const { clientTools, toolChoice, bringsTools, searchesWeb, warnings } = offered
  const usesAll = asked ?? (wish === undefined ? !bringsTools : wish === 'tools')
  return {
    clientTools,
    toolChoice,
    warnings: boundedWarnings(warnings),
    searchesWeb,
    toolsEnabled: usesAll || searchesWeb,
    ...(usesAll ? {} : { serverTools: WEB_SEARCH_TOOLS }),
  }
}

function boundedWarnings(warnings: readonly string[]): string[] {
  if (warnings.length <= MAX_WARNINGS) return [...warnings]
  const shown = warnings.slice(0, MAX_WARNINGS - 1)
  return [...shown, `Left out: ${warnings.length - shown.length} more of other kinds.`]
}
