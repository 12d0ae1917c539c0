// Tools that run programs, with the seconds of each call counted and limited.
import type { UserId } from '../protocol/ids.ts'
import type { ToolDefinition } from './definition.ts'

const PROGRAMS = new Set(['execute_python', 'exec'])

/** Counts the seconds of a program. @throws AppError once no more may be used, without running it. */
export interface ProgramMeter {
  runProgram<T>(userId: UserId, run: () => Promise<T>): Promise<T>
}

/** Makes tools that run programs count their seconds against the quota. */
export const withMeteredPrograms = (
  tools: readonly ToolDefinition[],
  meter: ProgramMeter,
): ToolDefinition[] =>
  tools.map((tool) => (PROGRAMS.has(tool.name) ? withMeter(tool, meter) : tool))

function withMeter(tool: ToolDefinition, { runProgram }: ProgramMeter): ToolDefinition {
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
        run: (context) => runProgram(context.userId, () => input.run(context)),
      },
    }
  }
  return Object.assign(copy, { parse })
}
