// Exports the shown branch of a conversation as one HTML file without scripts, for screen and paper.

import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import { escapeHtml } from '../lib/escape-html.ts'
import type { SharedSource } from '../protocol/conversations/share.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Receipt } from '../protocol/runs/receipt.ts'
import { citedSources, sourcesHtml } from './cited-sources.ts'
import { type DocumentLanguage, documentTexts } from './document-texts.ts'
import { type ReceiptReader, receiptOf } from './export-json.ts'
import { DOCUMENT_END, documentStart, fileKind, timeHtml } from './html.ts'
import type { MarkdownRenderer } from './markdown.ts'
import type { ModelName } from './model-names.ts'
import {
  type AnyText,
  contentOf,
  type ExportStore,
  piecesOf,
  readShownBranch,
  textOf,
  unreadable,
} from './read-conversation.ts'
import { receiptText } from './receipt-text.ts'
import { foldOf, groupSteps } from './steps-html.ts'
import { documentToolTitle } from './tool-titles.ts'

interface Rendering {
  markdown: MarkdownRenderer
  language: DocumentLanguage
}

type FileRendering = Rendering & {
  owner: UserId
  /** Whether a text so far has had a formula. */
  hasFormulas: boolean
}

/** HTML in pieces. Images are embedded. */
export async function* exportHtml(
  store: ExportStore,
  receipts: ReceiptReader,
  conversation: ConversationRow,
  given: Rendering & { nameOf: ModelName },
): AsyncGenerator<string> {
  const { language } = given
  const rendering: FileRendering = { ...given, owner: conversation.userId, hasFormulas: false }
  const { title, createdAt } = conversation
  const texts = documentTexts(language)
  const kind = fileKind()
  yield documentStart(
    title,
    language,
    kind,
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(kind.policy)}">\n`,
  )
  yield `<header><h1 class="title" dir="auto">${escapeHtml(title)}</h1><p class="note">${timeHtml(createdAt, language)}</p></header>\n`
  for await (const message of readShownBranch(store, conversation)) {
    const who =
      message.role === 'user' ? texts.user : (given.nameOf(message.model) ?? texts.assistant)
    yield `<article class="${message.role}"><h2>${escapeHtml(who)}</h2>\n`
    if (message.role === 'user') {
      yield* preformatted(textOf(message), 'p', 'said')
    } else {
      const sources = citedSources(message)
      if (message.steps.length === 0) yield* prose(textOf(message), rendering, sources)
      for (const group of groupSteps(message.steps)) {
        const fold = foldOf(group, texts)
        if (fold !== null) yield fold.start
        for (const step of group) yield* stepHtml(message, step, rendering, sources)
        if (fold !== null) yield fold.end
      }
      yield sourcesHtml(sources, texts.sources)
    }
    yield* attachmentsHtml(store, message)
    if (message.error !== null) yield `<p class="bad">${escapeHtml(message.error)}</p>`
    yield* receiptHtml(await receiptOf(receipts, conversation, message), message, language)
    yield '</article>\n'
  }
  if (rendering.hasFormulas) yield `<style>${kind.formulaStyle ?? ''}</style>\n`
  yield DOCUMENT_END
}

/** What the answer did, if it could do harm. */
function* receiptHtml(
  receipt: Receipt | undefined,
  message: FullMessage,
  language: DocumentLanguage,
): Generator<string> {
  if (receipt === undefined || message.receipt?.acted !== true) return
  const { title, nothing, lists } = receiptText(receipt, message.conversationId, language)
  yield `<details><summary>${escapeHtml(title)}</summary>`
  if (nothing !== null) yield `<p>${escapeHtml(nothing)}</p>`
  for (const list of lists) {
    yield `<p class="note">${escapeHtml(list.title)}</p><ul>`
    for (const entry of list.entries) yield `<li dir="auto">${escapeHtml(entry)}</li>`
    yield '</ul>'
  }
  yield '</details>\n'
}

async function* stepHtml(
  message: FullMessage,
  step: FullMessage['steps'][number],
  rendering: FileRendering,
  sources: readonly SharedSource[],
): AsyncGenerator<string> {
  const { language } = rendering
  const texts = documentTexts(language)
  const content = contentOf(message, step)
  if (step.type === 'text') return yield* prose(content, rendering, sources)
  const summary =
    step.type === 'thinking'
      ? texts.thinking
      : `${step.type === 'tool_call' ? texts.call : texts.result}${texts.colon}${documentToolTitle(step.name, language)}`
  yield `<details><summary>${escapeHtml(summary)}</summary>`
  yield* preformatted(content, 'pre', '')
  yield '</details>\n'
}

async function* prose(
  text: AnyText,
  rendering: FileRendering,
  sources: readonly SharedSource[],
): AsyncGenerator<string> {
  if (typeof text !== 'string') return yield* preformatted(text, 'pre', 'plain')
  const { markdown, language, owner } = rendering
  const html = await markdown.render(owner, text, {
    language,
    hasFrames: false,
    sources,
  })
  // What was written as `<math` is escaped.
  rendering.hasFormulas ||= html.includes('<math')
  yield `<div class="body" dir="auto">${html}</div>\n`
}

async function* preformatted(
  text: AnyText,
  element: 'p' | 'pre',
  style: string,
): AsyncGenerator<string> {
  yield `<${element} class="${style}" dir="auto">`
  for await (const piece of piecesOf(text)) yield escapeHtml(piece)
  yield `</${element}>\n`
}

async function* attachmentsHtml(
  { attachments }: ExportStore,
  message: FullMessage,
): AsyncGenerator<string> {
  for (const attachment of message.attachments) {
    const { position, kind, name, mime } = attachment
    const file = await attachments.find(message.id, position)
    if (file === undefined) continue
    if (kind === 'image') {
      yield `<p><img alt="${escapeHtml(name)}" src="data:${escapeHtml(mime)};base64,`
      for await (const piece of file.content.readPieces()) yield escapeHtml(piece)
      yield '"></p>\n'
    } else {
      yield `<details><summary>${escapeHtml(name)}</summary>`
      const why = unreadable(attachment)
      if (why === undefined) yield* preformatted(file.content, 'pre', '')
      else yield `<p>${escapeHtml(why)}</p>`
      yield '</details>\n'
    }
  }
}
