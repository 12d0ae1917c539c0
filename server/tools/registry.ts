// All tools of the server: their sources, and the sets of tools that runs use.
import type { UserId } from '../protocol/ids.ts'
import { isLowerRisk, type RiskLevel } from '../protocol/runs/run-event.ts'
import type { ToolDefinition } from './definition.ts'

/** Tools by name and alias. Immutable: a run keeps the set that it began with. */
export interface ToolSet {
  /** By name or alias. */
  get(name: string): ToolDefinition | undefined
  /** In the order of their sources, so that the same tools produce the same bytes. Aliases are not listed. */
  list(): readonly ToolDefinition[]
  /** Up to three names similar to `name`, best first. */
  closest(name: string, filter?: (tool: ToolDefinition) => boolean): string[]
}

/** The current tools of one kind for a user or, with null, for everybody; the same array while they do not change. */
export type ToolSource = (userId: UserId | null) => readonly ToolDefinition[]

/** The server's own tools. One that turns out not to run here is withdrawn: it is neither offered to models nor listed. */
export function createOwnTools(tools: readonly ToolDefinition[]): {
  source: ToolSource
  withdraw(name: string): void
} {
  let offered = tools
  return {
    source: () => offered,
    withdraw(name) {
      offered = offered.filter((tool) => tool.name !== name)
    },
  }
}

/** Create one per server. A run takes a snapshot and keeps it. */
export interface ToolRegistry {
  /** The current tools of a user or, with null, those that everybody has. */
  snapshot(userId: UserId | null): ToolSet
  /** A tool that is in no list of tools, as the operator's settings leave it to the user; undefined if they do not. */
  admit(userId: UserId, tool: ToolDefinition): ToolDefinition | undefined
}

/** A lowered level is tied to the description that it was given for. */
interface LoweredRisks {
  applies(tool: ToolDefinition & { grantKey: string }, level: RiskLevel): boolean
  /** Changes whenever `applies` may answer differently. */
  readonly version: number
}

/** The operator's settings for tools. */
export interface RegistryOptions {
  /** Names of tools that are never offered. */
  disabled?: readonly string[]
  /** The operator's risk level by tool name. It replaces the tool's own level for every call. */
  risk?: Readonly<Record<string, RiskLevel>>
  /** For tools that describe themselves, whether a lower level applies to what they say now. Default: always. */
  lowered?: LoweredRisks
  /** The test which tools a user may use; null if all. The same function while it permits the same tools. */
  rules?(userId: UserId | null): ((tool: ToolDefinition) => boolean) | null
}

/** Users who reach the same servers share a set. */
const MAX_KNOWN_SETS = 20

/** A name belongs to the first source that has it, so a tool from outside can never replace a built-in one. */
export function createToolRegistry(
  sources: readonly ToolSource[],
  options: RegistryOptions = {},
): ToolRegistry {
  const disabled = new Set(options.disabled ?? [])
  const levels = new Map(Object.entries(options.risk ?? {}))
  const { lowered } = options
  const levelOf = (tool: ToolDefinition): RiskLevel | undefined => {
    const level = levels.get(tool.name)
    const { grantKey } = tool
    return level === undefined ||
      grantKey === undefined ||
      !isLowerRisk(level, tool.riskLevel) ||
      (lowered?.applies({ ...tool, grantKey }, level) ?? true)
      ? level
      : undefined
  }
  let known: {
    lists: (readonly ToolDefinition[])[]
    permits: ((tool: ToolDefinition) => boolean) | null
    version: number | undefined
    set: ToolSet
  }[] = []
  return {
    admit(userId, tool) {
      const permits = options.rules?.(userId) ?? null
      const isLeft = !disabled.has(tool.name) && (permits?.(tool) ?? true)
      return isLeft ? withLevel(tool, levelOf(tool)) : undefined
    },
    snapshot(userId) {
      const lists = sources.map((source) => source(userId))
      const permits = options.rules?.(userId) ?? null
      const found = known.find(
        (one) =>
          one.permits === permits &&
          one.version === lowered?.version &&
          one.lists.every((list, at) => list === lists[at]),
      )
      if (found !== undefined) return found.set
      const tools = lists
        .flat()
        .filter((tool) => !disabled.has(tool.name) && (permits?.(tool) ?? true))
        .map((tool) => withLevel(tool, levelOf(tool)))
      const set = createToolSet(tools)
      known = [{ lists, permits, version: lowered?.version, set }, ...known].slice(
        0,
        MAX_KNOWN_SETS,
      )
      return set
    },
  }
}

/** Of tools with the same name, the first stays. Tools named like an earlier tool's alias are dropped. */
export function createToolSet(tools: readonly ToolDefinition[]): ToolSet {
  const byName = new Map<string, ToolDefinition>()
  const nameOfAlias = new Map<string, string>()
  const get = (name: string): ToolDefinition | undefined =>
    byName.get(name) ?? byName.get(nameOfAlias.get(name) ?? '')
  for (const tool of tools) {
    if (get(tool.name) !== undefined) continue
    byName.set(tool.name, tool)
    for (const alias of tool.aliases)
      if (get(alias) === undefined) nameOfAlias.set(alias, tool.name)
  }
  const list = [...byName.values()]
  return {
    get,
    list: () => list,
    closest(name, filter = () => true) {
      const wanted = name.slice(0, 100).toLowerCase()
      const near = list
        .filter(filter)
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
  }
}

function withLevel(tool: ToolDefinition, riskLevel: RiskLevel | undefined): ToolDefinition {
  if (riskLevel === undefined) return tool
  // Getters stay getters, because their values may change.
  const copy = Object.defineProperties({ ...tool }, Object.getOwnPropertyDescriptors(tool))
  const parse: ToolDefinition['parse'] = (rawArguments) => {
    const parsed = tool.parse(rawArguments)
    return parsed.ok ? { ok: true, input: { ...parsed.input, riskLevel } } : parsed
  }
  return Object.assign(copy, { riskLevel, parse })
}

/** Edit distance (Levenshtein): the number of letters to insert, remove or replace. */
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
