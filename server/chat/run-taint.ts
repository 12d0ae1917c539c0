// Whether a run's conversation holds outside text, and what a person allowed in it for good.
import type { ToolAnswer } from '../tools/answer.ts'
import type { RunContext } from './run-context.ts'
import type { RunParts } from './run-parts.ts'
import { readRunState } from './run-state.ts'

export interface Taint {
  isTainted(): boolean
  /** The tools that a person allowed for the run or the conversation. */
  remembered(): ReadonlySet<string>
  /** Notes an answer that brought text from outside; stored before it can steer anything. */
  see(answer: ToolAnswer): Promise<void>
  /** Reads again what is allowed: a person has just decided. */
  reload(): Promise<void>
}

/** Whether outside text was read, and what a person allowed for good: both decide who is asked. */
export function createTaint(parts: RunParts, context: RunContext): Taint {
  const { run, state, writes } = parts
  const { store } = parts.dependencies
  let tainted = context.conversation.tainted
  let granted = new Set([...state.grants, ...context.conversation.approvalGrants])
  return {
    isTainted: () => tainted,
    remembered: () => granted,
    async see(answer: ToolAnswer): Promise<void> {
      if (!answer.untrusted || tainted) return
      tainted = true
      await writes.commit((tx) =>
        store.conversations.update(tx, run.conversationId, { tainted: true }),
      )
    },
    async reload(): Promise<void> {
      const [fresh, conversation] = await Promise.all([
        store.runs.find(run.id),
        store.conversations.find(run.userId, run.conversationId),
      ])
      state.grants = readRunState(fresh?.state).grants
      granted = new Set([...state.grants, ...(conversation?.approvalGrants ?? [])])
    },
  }
}
