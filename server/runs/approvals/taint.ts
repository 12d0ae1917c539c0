// Whether a run's conversation holds outside text, and what a person allowed in it for good.
import type { CallResult } from '../../tools/tool-result.ts'
import type { RunContext } from '../context/context.ts'
import type { Write } from '../group-commit.ts'
import type { PerformedRun } from '../performed-run.ts'
import { readRunState } from '../state.ts'

export interface Taint {
  isTainted(): boolean
  /** The tools that a person allowed for the run or the conversation. */
  remembered(): ReadonlySet<string>
  /**
   * Takes in a result that settled. The write it returns belongs in the transaction that stores the result, so that no
   * text from outside is ever stored without its mark.
   */
  see(result: Pick<CallResult, 'untrusted'>): Write
  /** Reads again what is allowed: a person has just decided. */
  reload(): Promise<void>
}

const nothing: Write = async () => {}

/**
 * Whether outside text was read, and what a person allowed for good: both decide which calls need approval. Resolves when what the
 * run starts from is marked, should it hold outside text that the conversation is not marked for yet.
 */
export async function createTaint(performed: PerformedRun, context: RunContext): Promise<Taint> {
  const { run, state, writes } = performed
  const { store } = performed.dependencies
  let tainted = context.conversation.tainted || context.holdsOutsideText
  let granted = new Set([...state.grants, ...context.conversation.approvalGrants])
  const mark: Write = (tx) => store.conversations.markTainted(tx, run.conversationId)
  if (context.holdsOutsideText && !context.conversation.tainted) await writes.commit(mark)
  return {
    isTainted: () => tainted,
    remembered: () => granted,
    see(result) {
      if (!result.untrusted) return nothing
      tainted = true
      // Written each time: the write of an earlier result may still fail.
      return mark
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
