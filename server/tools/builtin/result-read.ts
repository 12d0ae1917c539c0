// The `result_read` tool: goes on reading a result that was too long to be shown at once.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../definition.ts'
import { type ResultKeeper, sliceResult } from '../long-results.ts'

const DEFAULT_LENGTH = 20_000

export const createResultReadTool = (results: ResultKeeper): ToolDefinition =>
  defineTool({
    name: 'result_read',
    description:
      'Reads on in a tool result that was too long to be shown at once. Such a result names its handle and the offset to go on at.',
    category: 'basic',
    riskLevel: 'low',
    timeoutMs: 10_000,
    input: z.object({
      handle: z.string().min(1).max(200).describe('The handle that the long result named.'),
      offset: z
        .int()
        .min(0)
        .default(0)
        .describe('Character to begin at; `next_offset` of the slice before.'),
      length: z
        .int()
        .min(1)
        .max(40_000)
        .default(DEFAULT_LENGTH)
        .describe('How many characters at most.'),
    }),
    handler: async ({ handle, offset, length }, context) => {
      const content = await results.read(context, handle)
      return content === undefined
        ? fail(`There is no result with the handle "${handle}" in this conversation.`)
        : succeed(sliceResult(handle, content, offset, length))
    },
  })
