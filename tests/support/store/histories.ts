// Reads histories as runs do.
import type { HistoryMessage } from '../../../server/db/repositories/conversations/branch-history.ts'
import type { Store } from '../../../server/db/store.ts'
import type { ConversationId, MessageId } from '../../../server/protocol/ids.ts'

/** The first page of a run. */
export const PAGE = { length: 100, maxBytes: 2_000_000 }

/** What reads histories. */
export type HistoryStore = { messages: Pick<Store['messages'], 'history'> }

/** Reads a branch as a run does: page by page, up to a summary. */
export async function readAll(
  store: HistoryStore,
  id: ConversationId,
  leaf: MessageId,
): Promise<HistoryMessage[]> {
  const read = store.messages.history(id)
  let messages: HistoryMessage[] = []
  for (let from: MessageId | null = leaf; from !== null; ) {
    const page: HistoryMessage[] = await read(from, PAGE)
    messages = [...page, ...messages]
    from = page[0]?.parentId ?? null
  }
  return messages
}
