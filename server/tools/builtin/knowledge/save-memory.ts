// The `save_memory` tool: stores a fact that later conversations of the user should have.
import { z } from 'zod'
import { cleanFact, type Memory } from '../../../knowledge/memory.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'

/** What the `save_memory` tool needs from the server. */
export interface SaveMemoryDependencies {
  memory: Pick<Memory, 'remember'>
}

/** The tool `save_memory`. */
export const createSaveMemoryTool = ({ memory }: SaveMemoryDependencies): ToolDefinition =>
  defineTool({
    name: 'save_memory',
    description:
      'Stores a fact about the user for all later conversations. Use it only for lasting facts: preferences, names, decisions; not for details of this task.',
    category: 'agent',
    riskLevel: 'low',
    // Storing a fact twice changes nothing.
    repeatable: true,
    timeoutMs: 10_000,
    input: z.object({
      fact: z
        .string()
        .min(1)
        .max(2_000)
        .describe('One self-contained sentence, at most 500 characters.'),
    }),
    async preview({ fact }) {
      const clean = cleanFact(fact) ?? ''
      return {
        display: `Remember: ${clean}`,
        display_code: 'remember',
        display_params: { fact: clean },
      }
    },
    async handler({ fact }, { userId, isTainted }) {
      const clean = cleanFact(fact)
      if (clean === null) return fail('`fact` contains no text.')
      // Facts from a tainted conversation are marked as untrusted.
      const outcome = await memory.remember(userId, clean, { untrusted: isTainted() })
      if (outcome === 'full')
        return fail('The memory is full. Ask the user to delete facts in the settings first.')
      if (outcome === 'known')
        return succeed({ saved: false, known: true }, { display: `Already known: ${clean}` })
      return succeed({ saved: true, fact: clean }, { display: `Remembered: ${clean}` })
    },
  })
