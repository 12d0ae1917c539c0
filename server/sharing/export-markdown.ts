// Exports the shown branch of a conversation as Markdown, for people.

import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import { filled } from '../lib/locale-texts.ts'
import { closesFence, FENCE_START } from '../protocol/markdown/nested-fences.ts'
import type { Receipt } from '../protocol/runs/receipt.ts'
import { type DocumentLanguage, type DocumentTexts, documentTexts } from './document-texts.ts'
import { type ReceiptReader, receiptOf } from './export-json.ts'
import type { ModelName } from './model-names.ts'
import {
  type AnyText,
  contentOf,
  type ExportStore,
  piecesOf,
  readShownBranch,
  textOf,
} from './read-conversation.ts'
import { receiptText } from './receipt-text.ts'

/**
 * Markdown in pieces. Texts stay unchanged, except that code which they leave open ends with them; tool calls and results are
 * fenced so that they cannot end their fence.
 */
export async function* exportMarkdown(
  store: ExportStore,
  receipts: ReceiptReader,
  conversation: ConversationRow,
  { language, nameOf }: { language: DocumentLanguage; nameOf: ModelName },
): AsyncGenerator<string> {
  const texts = documentTexts(language)
  yield `# ${oneLine(conversation.title)}\n\n${conversation.createdAt.toISOString()}\n`
  for await (const message of readShownBranch(store, conversation)) {
    const who = texts[message.role]
    const name = nameOf(message.model)
    const model = name === null ? '' : ` (${oneLine(name)})`
    yield `\n## ${who}${model}\n\n`
    for (const { name, size } of message.attachments)
      yield `*${texts.attachment}${texts.colon}${oneLine(name)} ${filled(texts.bytes, { count: size })}*\n\n`
    if (message.role === 'user' || message.steps.length === 0) yield* written(textOf(message))
    else for (const step of message.steps) yield* stepMarkdown(message, step, texts)
    if (message.error !== null) yield `*${oneLine(message.error)}*\n\n`
    yield* receiptMarkdown(await receiptOf(receipts, conversation, message), message, language)
  }
}

/** What the answer did, if it could do harm. */
function* receiptMarkdown(
  receipt: Receipt | undefined,
  message: FullMessage,
  language: DocumentLanguage,
): Generator<string> {
  if (receipt === undefined || message.receipt?.acted !== true) return
  const { title, nothing, lists } = receiptText(receipt, message.conversationId, language)
  yield `### ${title}\n\n`
  if (nothing !== null) yield `${nothing}\n\n`
  for (const list of lists) {
    yield `${list.title}\n\n`
    for (const entry of list.entries) yield `- ${oneLine(entry)}\n`
    yield '\n'
  }
}

/** A name or title for the middle of a line: no line breaks and no marks that Markdown would read. */
const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>#|~]/g, '\\$&')

async function* written(text: AnyText): AsyncGenerator<string> {
  const lines = createFenceReader()
  for await (const piece of piecesOf(text)) {
    lines.read(piece)
    yield piece
  }
  const mark = lines.openMark()
  // An answer that was cut off within code: the messages after it would become code, too.
  if (mark !== null) yield `\n${mark}`
  yield '\n\n'
}

/** No mark of a fence is longer, and no line that only ends one. */
const MAX_FENCE_LINE = 1_000

/** Reads a text in pieces and knows whether it ends within a fence. */
function createFenceReader(): { read(piece: string): void; openMark(): string | null } {
  let line = ''
  let mark: string | null = null
  const endLine = (): void => {
    if (mark === null) mark = FENCE_START.exec(line)?.[2] ?? null
    else if (closesFence(line, mark)) mark = null
    line = ''
  }
  return {
    read(piece) {
      const [first = '', ...others] = piece.split('\n')
      line = (line + first).slice(0, MAX_FENCE_LINE)
      for (const other of others) {
        endLine()
        line = other.slice(0, MAX_FENCE_LINE)
      }
    },
    openMark() {
      endLine()
      return mark
    },
  }
}

async function* stepMarkdown(
  message: FullMessage,
  step: FullMessage['steps'][number],
  texts: DocumentTexts,
): AsyncGenerator<string> {
  const content = contentOf(message, step)
  if (step.type === 'text') return yield* written(content)
  if (step.type === 'thinking') yield `${texts.thinking}${texts.colon.trim()}\n\n`
  else if (step.type === 'tool_call') yield `${texts.call}${texts.colon}${oneLine(step.name)}\n\n`
  else yield `${texts.result}${texts.colon}${oneLine(step.name)}\n\n`
  const fence = '`'.repeat(Math.max(3, (await longestRun(content)) + 1))
  yield `${fence}\n`
  yield* piecesOf(content)
  yield `\n${fence}\n\n`
}

/** The longest run of backticks, also across pieces. */
async function longestRun(text: AnyText): Promise<number> {
  let longest = 0
  let current = 0
  for await (const piece of piecesOf(text)) {
    for (const part of piece.match(/`+|[^`]+/g) ?? []) {
      current = part.startsWith('`') ? current + part.length : 0
      longest = Math.max(longest, current)
    }
  }
  return longest
}
