// Which tools a sub-agent gets: those its task names, never more than its parent has, and none that start agents.
import type { ToolDefinition } from '../tools/definition.ts'
import type { ToolSet } from '../tools/registry.ts'

/** Sub-agents cannot start further agents. */
const STARTING = new Set(['multi_agent', 'spawn'])

/**
 * `wanted` names tools by name or alias; all that are allowed when left out. Those that start agents are left out
 * silently; names that the parent can't use either are returned as `unknown`.
 */
export function toolsForSubAgent(
  parents: readonly ToolDefinition[],
  wanted: readonly string[] | undefined,
  all: Pick<ToolSet, 'get'>,
): { tools: ToolDefinition[]; unknown: string[] } {
  const allowed = parents.filter((tool) => !STARTING.has(tool.name))
  if (wanted === undefined) return { tools: allowed, unknown: [] }
  const names = new Set(wanted.map((name) => all.get(name)?.name ?? name))
  const tools = allowed.filter((tool) => names.has(tool.name))
  const found = new Set([...tools.map(({ name }) => name), ...STARTING])
  return { tools, unknown: [...names].filter((name) => !found.has(name)) }
}
