// Tracks whether a run's conversation contains text from outside, and which tools a person has granted.
import type { CallResult } from '../../tools/tool-result.ts'
import type { RunContext } from '../context/context.ts'
import type { Write } from '../group-commit.ts'
import { type PerformedRun, retryRead } from '../performed-run.ts'
import { readRunState } from '../state.ts'
import { createKnownAddresses, type KnownAddresses } from './known-addresses.ts'

/** Whether text from outside is in the conversation, and what a person has granted. */
export interface Taint {
  isTainted(): boolean
  /** Names of the tools that a person granted for the run or the conversation. */
  remembered(): ReadonlySet<string>
  /**
   * Records a settled result. Run the returned write in the transaction that stores the result, so that text from outside
   * is never stored without its mark.
   */
  record(result: Pick<CallResult, 'untrusted' | 'call' | 'content'>): Write
  /** The web addresses that the conversation knows. */
  readonly addresses: KnownAddresses
  /** Reads the grants again, after a decision. */
  reload(): Promise<void>
}

const NO_WRITE: Write = async () => {}

/** Resolves once the conversation is marked as tainted, if the run's context contains text from outside. */
export async function createTaint(performed: PerformedRun, context: RunContext): Promise<Taint> {
  const { run, state, writes } = performed
  const { store } = performed.dependencies
  let tainted = context.conversation.tainted || context.holdsOutsideText
  let granted = new Set([...state.grants, ...context.conversation.approvalGrants])
  const mark: Write = (tx) => store.conversations.markTainted(tx, run.conversationId)
  if (context.holdsOutsideText && !context.conversation.tainted) await writes.commit(mark)
  const addresses = createKnownAddresses({
    store,
    conversationId: run.conversationId,
    texts: context.personTexts,
    tools: context.allTools,
    retry: (read) => retryRead(performed, read),
  })
  return {
    isTainted: () => tainted,
    addresses,
    remembered: () => granted,
    record(result) {
      addresses.record(result)
      if (!result.untrusted) return NO_WRITE
      tainted = true
      // Every such result writes the mark, because the write of an earlier result may still fail.
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
