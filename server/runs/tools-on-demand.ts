// Lists only some of many tools in each request: the model finds the other tools of MCP servers with `tool_search`.
import { z } from 'zod'
import type { ToolSchema } from '../llm/client.ts'
import { estimateToolTokens } from '../llm/tokens.ts'
import type { SentTools } from '../protocol/models/catalog.ts'
import { defineTool, succeed, type ToolDefinition, toSchema } from '../tools/definition.ts'

/** OpenAI refuses more tools in a request. */
const MAX_LISTED = 128
/** More tokens of MCP tools are not sent with each request, however few the tools are. */
const MAX_LISTED_TOKENS = 20_000
const MAX_RESULTS = 20
/** Names of servers in the description. */
const MAX_SERVERS = 60

/** The tools of a run as its requests list them. */
export interface ListedTools {
  /** Grows when the model finds tools; what is in it stays, in the same order. */
  readonly schemas: ToolSchema[]
  /** The tools that are listed, for sub-agents. Grows in the same way. */
  readonly tools: ToolDefinition[]
  /** The tool that finds the others; null if all tools are listed. */
  readonly search: ToolDefinition | null
}

/** What decides which tools of a run are listed. */
export interface ListedToolsOptions {
  /** All tools that the run may use. */
  tools: readonly ToolDefinition[]
  /** Tools that the requesting program runs itself. All are listed. */
  clientTools: readonly ToolSchema[]
  /** More tools of MCP servers than this are found on demand. */
  maxMcpTools: number
  /** Names of the tools that were found earlier in the conversation, in this order. */
  found: readonly string[]
  /** Called with the names of tools that are listed from now on. */
  onFound(names: readonly string[]): void
}

/** Lists all tools, or, if servers offer too many, those that are not of servers, `tool_search`, and what it found. */
export function listTools(options: ListedToolsOptions): ListedTools {
  const { tools, clientTools } = options
  const { own, remote, isOnDemand } = divide(options)
  if (!isOnDemand)
    return {
      schemas: [...tools.map(toSchema), ...clientTools],
      tools: [...tools],
      search: null,
    }
  const listed = [...own]
  const schemas: ToolSchema[] = []
  const add = (names: readonly string[]): string[] => {
    const added: string[] = []
    for (const name of names) {
      const tool = remote.find((one) => one.name === name)
      if (tool === undefined || listed.includes(tool) || schemas.length >= MAX_LISTED) continue
      listed.push(tool)
      schemas.push(toSchema(tool))
      added.push(name)
    }
    return added
  }
  const search = createToolSearch(remote, (names) => {
    const added = add(names)
    if (added.length > 0) options.onFound(added)
  })
  schemas.push(...own.map(toSchema), toSchema(search), ...clientTools)
  add(options.found)
  return { schemas, tools: listed, search }
}

/** What a new conversation with these tools sends, for people. */
export function describeSentTools(
  options: Pick<ListedToolsOptions, 'tools' | 'maxMcpTools'>,
): SentTools {
  const all = { ...options, clientTools: [] }
  const { schemas } = listTools({ ...all, found: [], onFound: () => {} })
  const { remote, maxTools, tokens, isOnDemand } = divide(all)
  return {
    tools: schemas.length,
    tokens: estimateToolTokens(schemas),
    mcp: {
      tools: remote.length,
      tokens,
      max_tools: maxTools,
      max_tokens: MAX_LISTED_TOKENS,
      on_demand: isOnDemand,
    },
  }
}

/** The tools of servers, the others, and whether those of servers are too many for each request. */
function divide({
  tools,
  clientTools,
  maxMcpTools,
}: Pick<ListedToolsOptions, 'tools' | 'clientTools' | 'maxMcpTools'>) {
  const remote = tools.filter(isRemote)
  const own = tools.filter((tool) => !isRemote(tool))
  const room = MAX_LISTED - own.length - clientTools.length
  const maxTools = Math.max(0, Math.min(maxMcpTools, room))
  const tokens = estimateToolTokens(remote.map(toSchema))
  const isOnDemand = remote.length > 0 && (remote.length > maxTools || tokens > MAX_LISTED_TOKENS)
  return { own, remote, maxTools, tokens, isOnDemand }
}

const isRemote = ({ category }: ToolDefinition): boolean => category === 'mcp'

/** The server and the tool in the name `mcp__server__tool`. */
const partsOf = (name: string): { server: string; tool: string } => {
  const [, server = '', ...rest] = name.split('__')
  return { server, tool: rest.join('__') }
}

function createToolSearch(
  tools: readonly ToolDefinition[],
  onFound: (names: readonly string[]) => void,
): ToolDefinition {
  const counts = new Map<string, number>()
  for (const { name } of tools) {
    const { server } = partsOf(name)
    counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  const servers = [...counts].map(([server, count]) => `${server} (${count})`)
  const index = tools.map((tool) => ({ tool, words: wordsOf(tool) }))
  return defineTool({
    name: 'tool_search',
    description: `Finds more tools by what they do. You can call the tools that it returns from then on. Servers with tools: ${servers.slice(0, MAX_SERVERS).join(', ')}.`,
    category: 'mcp',
    riskLevel: 'low',
    input: z.object({
      query: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .describe('English key words, or names of tools or servers.'),
      limit: z.int().min(1).max(MAX_RESULTS).default(8),
    }),
    async handler({ query, limit }) {
      const found = search(index, query).slice(0, limit)
      onFound(found.map(({ name }) => name))
      if (found.length === 0)
        return succeed(
          { tools: [], note: 'No tool matches. Try other words, or the name of a server.' },
          { display: query },
        )
      return succeed(
        {
          tools: found.map(({ name, description, parameters }) => ({
            name,
            description,
            parameters,
          })),
        },
        { display: found.map(({ name }) => name).join(', ') },
      )
    },
  })
}

type Words = ReadonlyMap<string, number>

/** The words of a tool, with their weight: a word of its name says more than one of its description. */
function wordsOf({ name, description, parameters }: ToolDefinition): Words {
  const { server, tool } = partsOf(name)
  const words = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of splitWords(text)) words.set(word, Math.max(weight, words.get(word) ?? 0))
  }
  add(tool, 4)
  add(server, 3)
  add(description, 2)
  add(Object.keys(Object(parameters.properties)).join(' '), 1)
  return words
}

/** In lower case; words that are joined in names (`createIssue`, `create_issue`) are separate. */
const splitWords = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

/** The tools that match, best first; those that match equally in the order of their names. */
function search(
  index: readonly { tool: ToolDefinition; words: Words }[],
  query: string,
): ToolDefinition[] {
  const asked = [...new Set(splitWords(query))]
  return index
    .map(({ tool, words }) => {
      const exact = query.includes(tool.name) ? 100 : 0
      return { tool, score: asked.reduce((sum, word) => sum + weightOf(words, word), exact) }
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || (one.tool.name < other.tool.name ? -1 : 1))
    .map(({ tool }) => tool)
}

/** Words that begin alike (`issue`, `issues`, `deleting`) match, too, but count half. */
function weightOf(words: Words, word: string): number {
  const exact = words.get(word)
  if (exact !== undefined) return exact
  let best = 0
  for (const [known, weight] of words)
    if (weight / 2 > best && beginAlike(known, word)) best = weight / 2
  return best
}

const MIN_STEM = 4

function beginAlike(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length)
  let same = 0
  while (same < shorter && one[same] === other[same]) same += 1
  return same === shorter ? same >= MIN_STEM - 1 : same >= Math.max(MIN_STEM, shorter - 2)
}
