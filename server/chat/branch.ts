// The part of a conversation that a run looks at: from the newest message back to what fits or is summed up.

import type { FullMessage } from '../db/repositories/messages.ts'
import type { SummaryRow } from '../db/repositories/summaries.ts'
import type { Store } from '../db/store.ts'
import type { ConversationId, MessageId } from '../protocol/ids.ts'
import { estimateTokens } from './context-window.ts'
import type { BranchMessage } from './history.ts'

export interface Branch {
  /** Oldest first. */
  messages: (BranchMessage & { id: MessageId })[]
  /** What stands for everything before them. */
  summary: SummaryRow | undefined
}

const PAGE = 100
/** Whatever the window, no run looks further back. */
const MAX_MESSAGES = 4_000

/** Reads page by page, so that a very long conversation costs no more than its newest part. */
export async function loadBranch(
  store: Store,
  conversationId: ConversationId,
  leafId: MessageId,
  windowTokens: number,
): Promise<Branch> {
  // Asked for together: on a database across a network each question is a journey.
  const [newest, end] = await Promise.all([
    store.summaries.newest(conversationId),
    store.messages.branch(conversationId, leafId, PAGE),
  ])
  const summaries = new Map(newest.map((summary) => [summary.untilMessageId, summary]))
  const messages: Branch['messages'] = []
  let tokens = 0
  let page: FullMessage[] = end
  for (;;) {
    for (const message of page.toReversed()) {
      const summary = summaries.get(message.id)
      if (summary !== undefined) return { messages: messages.toReversed(), summary }
      messages.push(message)
      tokens += message.steps.reduce(
        (sum, step) => sum + estimateTokens('content' in step ? step.content : step.arguments),
        estimateTokens(message.text),
      )
    }
    const next = page[0]?.parentId ?? null
    if (next === null || tokens >= windowTokens || messages.length >= MAX_MESSAGES)
      return { messages: messages.toReversed(), summary: undefined }
    page = await store.messages.branch(conversationId, next, PAGE)
  }
}
