// Fits a run's messages to the window of its model.

import { fitMessages, messageBudget } from '../../agent/context-window.ts'
import { summarizeTurns } from '../../agent/summary.ts'
import type { LlmMessage } from '../../llm/client.ts'
import { toSchema } from '../../tools/definition.ts'
import type { PerformedRun } from '../performed-run.ts'
import { DEFAULT_CONTEXT_WINDOW, type RunContext } from './context.ts'

/**
 * The messages of the next iteration, as many as the model's window takes. What has to go is summed up by the model, once:
 * the summary is stored and stands for it in later runs too.
 */
export async function fitToWindow(
  messages: readonly LlmMessage[],
  context: RunContext,
  maxTokens: number | undefined,
  { active, run, usage, writes, dependencies }: PerformedRun,
): Promise<readonly LlmMessage[]> {
  const window = context.model.context_window ?? DEFAULT_CONTEXT_WINDOW
  const budget = messageBudget(window, maxTokens, context.tools.map(toSchema))
  return await fitMessages(messages, budget, async (dropped, turns) => {
    if (context.model.demo || !(await usage.isBudgetLeft())) return null
    const { summary, used } = await summarizeTurns(context.llm, dropped, active.signal)
    // Stored with the iteration that it was made for.
    usage.addExtra(used)
    const untilMessageId = context.turnEnds[turns - 1]
    if (summary !== null && untilMessageId !== undefined)
      await writes.commit((tx) =>
        dependencies.store.summaries.insert(tx, {
          conversationId: run.conversationId,
          untilMessageId,
          text: summary,
          createdAt: dependencies.now(),
        }),
      )
    return summary
  })
}
