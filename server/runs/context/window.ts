// Fits a run's messages into the context window of its model.

import { fitMessages, messageBudget } from '../../agent/context-window.ts'
import { summarizeTurns } from '../../agent/summary.ts'
import type { LlmMessage } from '../../llm/client.ts'
import { toSchema } from '../../tools/definition.ts'
import type { PerformedRun } from '../performed-run.ts'
import { DEFAULT_CONTEXT_WINDOW, type RunContext } from './context.ts'

/**
 * The messages for the next iteration, within the model's context window. Turns that have to be dropped are summarized by
 * the model; the summary is stored and used by later runs, too.
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
    // Stored together with the next iteration.
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
