// The `result_read` tool: reads more of a tool result or an attached file that was truncated.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'
import { type LongResultStore, sliceResult } from '../../long-results.ts'

const DEFAULT_LENGTH = 20_000

/** The tool `result_read`. */
export const createResultReadTool = (results: LongResultStore): ToolDefinition =>
  defineTool({
    name: 'result_read',
    description:
      'Reads more of a tool result or an attached file that was truncated. The truncated text gives the handle and the next offset.',
    category: 'basic',
    riskLevel: 'low',
    timeoutMs: 10_000,
    input: z.object({
      handle: z.string().min(1).max(200).describe('Handle from the truncated text.'),
      offset: z
        .int()
        .min(0)
        .default(0)
        .describe('First character; `next_offset` of the previous slice.'),
      length: z
        .int()
        .min(1)
        .max(40_000)
        .default(DEFAULT_LENGTH)
        .describe('Maximum number of characters.'),
    }),
    handler: async ({ handle, offset, length }, context) => {
      const content = await results.read(context, handle)
      return content === undefined
        ? fail(`This conversation has no result with the handle "${handle}".`)
        : succeed(sliceResult(handle, content, offset, length))
    },
  })
