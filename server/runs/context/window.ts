// Fits a run's messages into the context window of its model.

import {
  type ContextWindow,
  createContextWindow,
  messageBudget,
} from '../../agent/context-window.ts'
import { summarizeTurns } from '../../agent/summary.ts'
import type { ToolSchema } from '../../llm/client.ts'
import { estimateToolTokens } from '../../llm/tokens.ts'
import type { PerformedRun } from '../performed-run.ts'
import type { RunContext } from './context.ts'
import { DEFAULT_CONTEXT_WINDOW } from './read-branch.ts'

/**
 * The context window of one attempt. If turns have to be dropped, the model summarizes them; the summary is stored, and
 * later runs use it, too.
 * @param tools the tools in each request.
 */
export function createRunWindow(
  context: RunContext,
  tools: readonly ToolSchema[],
  maxTokens: number | undefined,
  { active, run, state, usage, writes, dependencies }: PerformedRun,
): ContextWindow {
  const toolTokens = estimateToolTokens(tools)
  const window = context.model.context_window ?? DEFAULT_CONTEXT_WINDOW
  return createContextWindow({
    budget: messageBudget(window, maxTokens, toolTokens),
    otherTokens: toolTokens,
    marks: state.window ?? context.marks ?? {},
    async summarize(dropped, turns) {
      if (context.model.demo || !(await usage.isBudgetLeft())) return null
      const { summary, used } = await summarizeTurns(context.llm, dropped, active.signal)
      // Stored together with the next iteration.
      usage.addExtra(used)
      const untilMessageId = turns === null ? undefined : context.turnEnds[turns - 1]
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
    },
  })
}
