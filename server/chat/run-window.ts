// Fits a run's messages to the window of its model.
import type { LlmMessage } from '../llm/client.ts'
import { toSchema } from '../tools/definition.ts'
import { fitMessages, messageBudget } from './context-window.ts'
import { DEFAULT_CONTEXT_WINDOW, type RunContext } from './run-context.ts'
import type { RunParts } from './run-parts.ts'
import { summarizeTurns } from './summarize.ts'

/**
 * The messages of the next round, as many as the model's window takes. What has to go is summed up by the model, once:
 * the summary is stored and stands for it in later runs too.
 */
export async function fitToWindow(
  messages: readonly LlmMessage[],
  context: RunContext,
  maxTokens: number | undefined,
  { active, run, writes, dependencies }: RunParts,
): Promise<readonly LlmMessage[]> {
  const window = context.model.context_window ?? DEFAULT_CONTEXT_WINDOW
  const budget = messageBudget(window, maxTokens, context.tools.map(toSchema))
  return await fitMessages(messages, budget, async (dropped, turns) => {
    if (context.model.demo) return null
    const text = await summarizeTurns(context.llm, dropped, active.signal)
    const untilMessageId = context.turnEnds[turns - 1]
    if (text !== null && untilMessageId !== undefined)
      await writes.commit((tx) =>
        dependencies.store.summaries.insert(tx, {
          conversationId: run.conversationId,
          untilMessageId,
          text,
          createdAt: dependencies.now(),
        }),
      )
    return text
  })
}
