// Tools that run programs, with the seconds of each call counted and limited.
import type { ResourceLimits } from '../../access/resource-limits.ts'
import { AppError } from '../../errors.ts'
import { fail, type ToolDefinition } from '../../tools/definition.ts'

const PROGRAMS = new Set(['execute_python', 'exec'])

/** Makes tools that run programs count their seconds against the quota. */
export const withMeteredPrograms = (
  tools: readonly ToolDefinition[],
  limits: Pick<ResourceLimits, 'runProgram'>,
): ToolDefinition[] =>
  tools.map((tool) => (PROGRAMS.has(tool.name) ? withMeter(tool, limits) : tool))

function withMeter(
  tool: ToolDefinition,
  { runProgram }: Pick<ResourceLimits, 'runProgram'>,
): ToolDefinition {
  // Copies getters as getters: their values may change.
  const copy = Object.defineProperties({ ...tool }, Object.getOwnPropertyDescriptors(tool))
  const parse: ToolDefinition['parse'] = (rawArguments) => {
    const parsed = tool.parse(rawArguments)
    if (!parsed.ok) return parsed
    const { input } = parsed
    return {
      ok: true,
      input: {
        ...input,
        async run(context) {
          try {
            return await runProgram(context.userId, () => input.run(context))
          } catch (error) {
            if (error instanceof AppError) return fail(error.message)
            throw error
          }
        },
      },
    }
  }
  return Object.assign(copy, { parse })
}
