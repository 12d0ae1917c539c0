// Loads the part of a conversation that a run needs: from the newest message back to a summary or to what fits.

import type { BranchMessage } from '../../agent/history.ts'
import type { AttachmentContent, AttachmentInfo } from '../../db/repositories/attachments.ts'
import type { FullMessage } from '../../db/repositories/messages.ts'
import type { SummaryRow } from '../../db/repositories/summaries.ts'
import type { Store } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import type { ConversationId, MessageId, RunId } from '../../protocol/ids.ts'
import { estimateTokens } from '../../protocol/token-estimate.ts'

export interface Branch {
  /** Oldest first. */
  messages: (BranchMessage & { id: MessageId; runId: RunId | null })[]
  /** The summary of everything before `messages`. */
  summary: SummaryRow | undefined
}

const PAGE = 100
/** An approximation, used before the attachments are read. */
const BYTES_PER_TOKEN = 4
/** A page ends with the message that reaches this size. */
const PAGE_BYTES = 2_000_000
/** The share of the context window that the texts of one message's files may take. */
const FILE_SHARE = 0.5
/** Upper limit for a run, whatever the context window. */
const MAX_MESSAGES = 4_000
/** Of all attachments in a run, newest first: enough for one message with the maximum, plus some more. */
const MAX_ATTACHMENT_BYTES = 24_000_000

/** For the model, in place of a content. */
const UNREADABLE = '[No text could be read from this file.]'
const MISSING = '[The content of this image is missing on the server.]'

/** A message whose attachments have not been read yet. */
type Found = Omit<Branch['messages'][number], 'attachments'> & { attachments: AttachmentInfo[] }

interface BranchOptions {
  windowTokens: number
  vision: boolean
  /** The bytes of an image by its hash. */
  readImage(sha256: string): Promise<Buffer>
}

/** Reads page by page, so that only the newest part of a very long conversation is loaded. */
export async function loadBranch(
  store: Store,
  conversationId: ConversationId,
  leafId: MessageId,
  { windowTokens, vision, readImage }: BranchOptions,
): Promise<Branch> {
  const { messages, summary } = await findBranch(store, conversationId, leafId, windowTokens)
  const [full, carries] = await Promise.all([
    withAttachments(store, messages, {
      vision,
      readImage,
      textTokens: windowTokens * FILE_SHARE,
    }),
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
        if (file.kind === 'text')
          tokens += Math.min(Math.ceil(textSize(file) / BYTES_PER_TOKEN), windowTokens * FILE_SHARE)
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

/** Bytes or characters of text that a model gets to read. */
const textSize = (file: AttachmentInfo): number => file.characters ?? file.size

/** Adds the contents of the attachments, newest message first, up to the size limit. */
async function withAttachments(
  store: Store,
  messages: readonly Found[],
  options: { vision: boolean; readImage: BranchOptions['readImage']; textTokens: number },
): Promise<Branch['messages']> {
  const { vision, readImage, textTokens } = options
  let left = MAX_ATTACHMENT_BYTES
  const full: Branch['messages'] = []
  for (const message of messages.toReversed()) {
    const wanted = message.attachments.filter((file) => {
      // A model without vision is only told that there was an image.
      const size = file.kind === 'text' ? textSize(file) : vision ? file.size : 0
      if (size > left) return false
      left -= size
      return size > 0
    })
    const read = new Map<number, BranchMessage['attachments'][number]>()
    const positions = wanted.map(({ position }) => position)
    let tokens = textTokens
    for (const { position, ...file } of await store.attachments.contents(message.id, positions)) {
      if ('sha256' in file) read.set(position, await imageOf(file, readImage))
      else if ('data' in file) read.set(position, file)
      else {
        const content = beginningOf(file.content, tokens)
        tokens -= estimateTokens(content)
        read.set(position, { ...file, content })
      }
    }
    const attachments = message.attachments.map((file): BranchMessage['attachments'][number] => {
      const content = read.get(file.position)
      if (content !== undefined) return content
      if (file.kind === 'image' && !vision) return { name: file.name, mime: 'image/png', data: '' }
      if (file.characters === 0 && file.size > 0)
        return { name: file.name, extension: undefined, content: UNREADABLE }
      return file.size === 0
        ? { name: file.name, extension: undefined, content: '' }
        : { name: file.name, omitted: true }
    })
    full.push({ ...message, attachments })
  }
  return full.toReversed()
}

type ImageFile = Extract<AttachmentContent, { sha256: string }>

async function imageOf(
  { name, mime, sha256 }: Omit<ImageFile, 'position'>,
  readImage: BranchOptions['readImage'],
): Promise<BranchMessage['attachments'][number]> {
  try {
    return { name, mime, data: (await readImage(sha256)).toString('base64') }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // A lost file must not end every later answer of its conversation.
    return { name, extension: undefined, content: MISSING }
  }
}

/** As much of a text as fits into some tokens, with a note if that is not all of it. */
function beginningOf(text: string, tokens: number): string {
  const needed = estimateTokens(text)
  if (needed <= tokens) return text
  const shown = Math.floor((text.length * Math.max(0, tokens)) / needed)
  return `${text.slice(0, shown)}\n[This file is too large for the context window: only the first ${shown} of ${text.length} characters are shown. Tell the user so.]`
}
