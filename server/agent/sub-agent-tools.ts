// Selects the tools of a sub-agent: those that its task names, limited to its parent's, without those that start agents.
import type { ToolDefinition } from '../tools/definition.ts'
import type { ToolSet } from '../tools/registry.ts'

/** Tools that start agents. Sub-agents cannot use them. */
const AGENT_TOOLS = new Set(['multi_agent', 'spawn'])

/**
 * @param requested names or aliases; undefined for all allowed tools.
 * @returns the tools, and in `unknown` the requested names that the parent cannot use. Tools that start agents are omitted
 * without a message.
 */
export function toolsForSubAgent(
  parents: readonly ToolDefinition[],
  requested: readonly string[] | undefined,
  all: Pick<ToolSet, 'get'>,
): { tools: ToolDefinition[]; unknown: string[] } {
  const allowed = parents.filter((tool) => !AGENT_TOOLS.has(tool.name))
  if (requested === undefined) return { tools: allowed, unknown: [] }
  const names = new Set(requested.map((name) => all.get(name)?.name ?? name))
  const tools = allowed.filter((tool) => names.has(tool.name))
  const found = new Set([...tools.map(({ name }) => name), ...AGENT_TOOLS])
  return { tools, unknown: [...names].filter((name) => !found.has(name)) }
}
