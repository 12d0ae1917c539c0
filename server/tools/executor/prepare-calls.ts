// Checks the calls of an iteration before any of them runs: finds the tools, checks the arguments, marks repeated calls.
import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { ToolCall } from '../../llm/client.ts'
import type { CallId, RunId } from '../../protocol/ids.ts'
import type { ParsedInput, ToolDefinition } from '../definition.ts'
import type { ToolSet } from '../registry.ts'
import type { ToolSafety } from '../timed-run.ts'

/** A call that can run, or the error that its result reports. */
export type PreparedCall =
  | { kind: 'fault'; error: string }
  /** `key` is null for a tool whose results are never reused. `firstAt` is the position of an identical earlier call. */
  | { kind: 'call'; tool: ToolDefinition; input: ParsedInput; key: string | null; firstAt?: number }

interface Dependencies {
  tools: ToolSet
  safety: ToolSafety
  /** Names of the tools that may be used; by default, all of `tools`. */
  allowedTools?: ReadonlySet<string>
}

/** Prepares all calls. A call is marked as a repetition if no file changed since an identical earlier one. */
export function prepareCalls(
  calls: readonly ToolCall[],
  runId: RunId,
  dependencies: Dependencies,
): PreparedCall[] {
  const seen = new Map<string, number>()
  return calls.map((call, position) => {
    const prepared = prepareCall(call, runId, dependencies)
    if (prepared.kind === 'fault') return prepared
    if (prepared.tool.changesProject) seen.clear()
    if (prepared.key === null) return prepared
    const firstAt = seen.get(prepared.key)
    if (firstAt !== undefined) return { ...prepared, firstAt }
    seen.set(prepared.key, position)
    return prepared
  })
}

function prepareCall(call: ToolCall, runId: RunId, dependencies: Dependencies): PreparedCall {
  const { tools, safety, allowedTools } = dependencies
  const isAllowed = (tool: ToolDefinition): boolean => allowedTools?.has(tool.name) ?? true
  const tool = tools.get(call.name)
  return tool === undefined || !isAllowed(tool)
    ? { kind: 'fault', error: unknownTool(call.name, tools, isAllowed) }
    : readInput(tool, call.arguments, { runId, callId: call.id }, safety)
}

/** The arguments, checked by their tool. */
export function readInput(
  tool: ToolDefinition,
  text: string,
  of: { runId: RunId; callId: CallId },
  safety: ToolSafety,
): PreparedCall {
  try {
    const parsed = tool.parse(text)
    if (!parsed.ok) return { kind: 'fault', error: parsed.error }
    const key = tool.cacheable ? callKey(tool.name, parsed.input.value) : null
    return { kind: 'call', tool, input: parsed.input, key }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'fault', error: error.message }
    safety.onFault(error, { tool: tool.name, ...of })
    return { kind: 'fault', error: 'Invalid arguments: the tool could not parse them.' }
  }
}

function unknownTool(
  name: string,
  tools: ToolSet,
  isAllowed: (tool: ToolDefinition) => boolean,
): string {
  const closest = tools.closest(name, isAllowed)
  const names =
    closest.length > 0
      ? closest
      : tools
          .list()
          .filter(isAllowed)
          .map((tool) => tool.name)
  const hint = closest.length > 0 ? 'Did you mean' : 'Available tools'
  const rest =
    names.length === 0 ? 'No tools are available.' : `${hint}: ${names.slice(0, 30).join(', ')}`
  return `There is no tool named "${name.slice(0, 100)}". ${rest}`
}

/** The identity of a call: equal for the same tool and equal values, whatever the order of the object's keys. */
const callKey = (tool: string, value: Record<string, unknown>): string =>
  createHash('sha256')
    .update(tool)
    .update('\0')
    .update(JSON.stringify(value, sortKeys))
    .digest('base64url')

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
  )
}
