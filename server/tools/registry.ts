// All tools of the server, by name and alias.
import type { ToolSchema } from '../llm/client.ts'
import type { RiskLevel } from '../protocol/run-event.ts'
import { type ToolDefinition, toSchema } from './definition.ts'

export interface ToolRegistry {
  /** By name or alias. */
  get(name: string): ToolDefinition | undefined
  /** In the order in which they were added; aliases are not listed. */
  list(): readonly ToolDefinition[]
  /** What a model gets, in the order of `list`, so that the same tools give the same bytes. */
  schemas(filter?: (tool: ToolDefinition) => boolean): ToolSchema[]
  /** Up to three names similar to `name`; best first. */
  closest(name: string, filter?: (tool: ToolDefinition) => boolean): string[]
  /** Throws when the name is taken: a tool from outside can never replace another. */
  add(tool: ToolDefinition): void
  /** False when there is no tool of this name. */
  remove(name: string): boolean
}

export interface RegistryOptions {
  /** Names that are never registered, also when added later. */
  disabled?: readonly string[]
  /** The operator's risk level by name; it replaces the tool's own level for every call. */
  risk?: Readonly<Record<string, RiskLevel>>
}

export function createToolRegistry(
  tools: readonly ToolDefinition[],
  options: RegistryOptions = {},
): ToolRegistry {
  const disabled = new Set(options.disabled ?? [])
  const levels = new Map(Object.entries(options.risk ?? {}))
  const byName = new Map<string, ToolDefinition>()
  const nameOfAlias = new Map<string, string>()

  const registry: ToolRegistry = {
    get: (name) => byName.get(name) ?? byName.get(nameOfAlias.get(name) ?? ''),
    list: () => [...byName.values()],
    schemas: (filter = () => true) => [...byName.values()].filter(filter).map(toSchema),
    closest: (name, filter = () => true) => {
      const offered = [...byName.values()].filter(filter)
      const wanted = name.slice(0, 100).toLowerCase()
      const near = offered
        .map((tool) => ({
          name: tool.name,
          distance: Math.min(
            ...[tool.name, ...tool.aliases].map((word) => distance(wanted, word.toLowerCase())),
          ),
        }))
        .filter((tool) => tool.distance <= Math.max(3, Math.ceil(wanted.length / 2)))
        .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
      return near.slice(0, 3).map((tool) => tool.name)
    },
    add: (tool) => {
      if (disabled.has(tool.name)) return
      if (registry.get(tool.name) !== undefined)
        throw new Error(`There is a tool named ${tool.name} already`)
      byName.set(tool.name, withLevel(tool, levels.get(tool.name)))
      for (const alias of tool.aliases)
        if (registry.get(alias) === undefined) nameOfAlias.set(alias, tool.name)
    },
    remove: (name) => {
      for (const [alias, target] of nameOfAlias) if (target === name) nameOfAlias.delete(alias)
      return byName.delete(name)
    },
  }
  for (const tool of tools) registry.add(tool)
  return registry
}

function withLevel(tool: ToolDefinition, riskLevel: RiskLevel | undefined): ToolDefinition {
  if (riskLevel === undefined) return tool
  // Getters stay getters: their values may change.
  const copy = Object.defineProperties({ ...tool }, Object.getOwnPropertyDescriptors(tool))
  const parse: ToolDefinition['parse'] = (rawArguments) => {
    const parsed = tool.parse(rawArguments)
    return parsed.ok ? { ok: true, input: { ...parsed.input, riskLevel } } : parsed
  }
  return Object.assign(copy, { riskLevel, parse })
}

/** Edit distance (Levenshtein): how many letters have to be inserted, removed or changed. */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const changed = from[row - 1] === to[column - 1] ? 0 : 1
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + changed,
      )
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
