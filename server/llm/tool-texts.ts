// The JSON text of the tools of requests. Most requests have the same tools, so the text is built once per list.
import { estimateTokens } from '../protocol/models/token-estimate.ts'

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
export function toolsTokens(tools: readonly unknown[]): number {
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
