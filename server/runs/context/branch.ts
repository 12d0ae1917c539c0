// Loads the part of a conversation that a run needs: from the newest message back to a summary or to what fits.

import type { BranchMessage } from '../../agent/history.ts'
import type { AttachmentInfo } from '../../db/repositories/attachments.ts'
import type { FullMessage } from '../../db/repositories/messages.ts'
import type { SummaryRow } from '../../db/repositories/summaries.ts'
import type { Store } from '../../db/store.ts'
import { estimateTokens } from '../../llm/tokens.ts'
import type { ConversationId, MessageId } from '../../protocol/ids.ts'

export interface Branch {
  /** Oldest first. */
  messages: (BranchMessage & { id: MessageId })[]
  /** The summary of everything before `messages`. */
  summary: SummaryRow | undefined
}

const PAGE = 100
/** An approximation, used before the attachments are read. */
const BYTES_PER_TOKEN = 4
/** A page ends with the message that reaches this size. */
const PAGE_BYTES = 2_000_000
/** Upper limit for a run, whatever the context window. */
const MAX_MESSAGES = 4_000
/** Of all attachments in a run, newest first: enough for one message with the maximum, plus some more. */
const MAX_ATTACHMENT_BYTES = 24_000_000

/** A message whose attachments have not been read yet. */
type Found = Omit<Branch['messages'][number], 'attachments'> & { attachments: AttachmentInfo[] }

/** Reads page by page, so that only the newest part of a very long conversation is loaded. */
export async function loadBranch(
  store: Store,
  conversationId: ConversationId,
  leafId: MessageId,
  { windowTokens, vision }: { windowTokens: number; vision: boolean },
): Promise<Branch> {
  const { messages, summary } = await findBranch(store, conversationId, leafId, windowTokens)
  const [full, carries] = await Promise.all([
    withAttachments(store, messages, vision),
    store.steps.carries(messages.map(({ id }) => id)),
  ])
  return { messages: full.map((one) => ({ ...one, carries: carries.get(one.id) })), summary }
}

async function findBranch(
  store: Store,
  conversationId: ConversationId,
  leafId: MessageId,
  windowTokens: number,
): Promise<{ messages: Found[]; summary: SummaryRow | undefined }> {
  // In parallel: with a remote database, each query costs a round trip.
  const [newest, end] = await Promise.all([
    store.summaries.newest(conversationId),
    store.messages.branch(conversationId, leafId, PAGE, { maxBytes: PAGE_BYTES }),
  ])
  const summaries = new Map(newest.map((summary) => [summary.untilMessageId, summary]))
  const messages: Found[] = []
  let tokens = 0
  let page: FullMessage[] = end
  for (;;) {
    for (const message of page.toReversed()) {
      const summary = summaries.get(message.id)
      if (summary !== undefined) return { messages: messages.toReversed(), summary }
      messages.push(message)
      for (const file of message.attachments)
        if (file.kind === 'text') tokens += Math.ceil(file.size / BYTES_PER_TOKEN)
      tokens += message.steps.reduce(
        (sum, step) => sum + estimateTokens('content' in step ? step.content : step.arguments),
        estimateTokens(message.text),
      )
    }
    const next = page[0]?.parentId ?? null
    if (next === null || tokens >= windowTokens || messages.length >= MAX_MESSAGES)
      return { messages: messages.toReversed(), summary: undefined }
    page = await store.messages.branch(conversationId, next, PAGE, { maxBytes: PAGE_BYTES })
  }
}

/** Adds the contents of the attachments, newest message first, up to the size limit. */
async function withAttachments(
  store: Store,
  messages: readonly Found[],
  vision: boolean,
): Promise<Branch['messages']> {
  let left = MAX_ATTACHMENT_BYTES
  const full: Branch['messages'] = []
  for (const message of messages.toReversed()) {
    const wanted = message.attachments.filter((file) => {
      // A model without vision is only told that there was an image.
      const size = file.kind === 'image' && !vision ? 0 : file.size
      if (size > left) return false
      left -= size
      return size > 0
    })
    const read = new Map(
      (
        await store.attachments.contents(
          message.id,
          wanted.map(({ position }) => position),
        )
      ).map(({ position, ...file }) => [position, file]),
    )
    const attachments = message.attachments.map((file): BranchMessage['attachments'][number] => {
      const content = read.get(file.position)
      if (content !== undefined) return content
      if (file.kind === 'image' && !vision) return { name: file.name, mime: 'image/png', data: '' }
      return file.size === 0
        ? { name: file.name, extension: undefined, content: '' }
        : { name: file.name, omitted: true }
    })
    full.push({ ...message, attachments })
  }
  return full.toReversed()
}
