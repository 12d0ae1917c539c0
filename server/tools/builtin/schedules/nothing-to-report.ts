// The tool `nothing_to_report`: a run that nobody attends says that a person has nothing to read.
import { z } from 'zod'
import { defineTool, succeed } from '../../definition.ts'

/** Its call ends the run after the iteration. Offered only to runs that may end in this way. */
export const NOTHING_TO_REPORT = 'nothing_to_report'

/** The tool `nothing_to_report`. */
export const nothingToReport = defineTool({
  name: NOTHING_TO_REPORT,
  description:
    'Ends this scheduled task without telling the user. Call it when there is nothing that they need to know; otherwise answer.',
  category: 'agent',
  riskLevel: 'low',
  input: z.object({ reason: z.string().trim().min(1).max(500).describe('Why, in one sentence.') }),
  handler: async ({ reason }) => succeed({ reason }, { display: reason }),
})
