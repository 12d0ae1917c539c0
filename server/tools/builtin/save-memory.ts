// The `save_memory` tool: a fact that later conversations of the user should know.
import { z } from 'zod'
import { cleanFact, type Memory } from '../../knowledge/memory.ts'
import type { ConversationId, UserId } from '../../protocol/ids.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../definition.ts'

export interface SaveMemoryDependencies {
  memory: Pick<Memory, 'remember'>
  /** Whether the conversation holds text from outside; a fact learned there is marked. */
  isTainted(userId: UserId, conversationId: ConversationId): Promise<boolean>
}

export const createSaveMemoryTool = ({
  memory,
  isTainted,
}: SaveMemoryDependencies): ToolDefinition =>
  defineTool({
    name: 'save_memory',
    description:
      'Remembers one fact about the user or their wishes for all later conversations. Only for what stays true and matters later: preferences, names, decisions. Write it as one short sentence that makes sense alone.',
    category: 'agent',
    riskLevel: 'low',
    // Saying it twice changes nothing.
    repeatable: true,
    timeoutMs: 10_000,
    input: z.object({
      fact: z.string().min(1).max(2_000).describe('One sentence, at most 500 characters.'),
    }),
    async preview({ fact }) {
      return { display: `Remember: ${cleanFact(fact) ?? ''}` }
    },
    async handler({ fact }, { userId, conversationId }) {
      const clean = cleanFact(fact)
      if (clean === null) return fail('There is nothing to remember in this fact.')
      const untrusted = conversationId === null || (await isTainted(userId, conversationId))
      const outcome = await memory.remember(userId, clean, { untrusted })
      if (outcome === 'full')
        return fail(
          'The memory is full. Ask the user to delete facts in the settings before new ones are saved.',
        )
      if (outcome === 'known')
        return succeed({ saved: false, known: true }, { display: `Known already: ${clean}` })
      return succeed({ saved: true, fact: clean }, { display: `Remembered: ${clean}` })
    },
  })
