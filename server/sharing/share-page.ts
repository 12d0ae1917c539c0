// The page of a share: HTML that also works without its script, in the language of the visitor.

import type { ShareRow } from '../db/repositories/conversations/shares.ts'
import { escapeHtml } from '../lib/escape-html.ts'
import {
  SharedMessage,
  type SharedSource,
  type SharedStep,
} from '../protocol/conversations/share.ts'
import { sourcesHtml } from './cited-sources.ts'
import { type DocumentLanguage, documentTexts } from './document-texts.ts'
import { BRAND, DOCUMENT_END, documentStart, PAGE, timeHtml } from './html.ts'
import type { MarkdownRenderer } from './markdown.ts'
import { foldOf, groupSteps } from './steps-html.ts'
import { documentToolTitle } from './tool-titles.ts'

/** The policy of every page below. No page may frame them. @param appsOrigin where its apps come from; null: from nowhere. */
export const sharePagePolicy = (appsOrigin: string | null): string => {
  const policy =
    appsOrigin === null
      ? PAGE.policy
      : PAGE.policy.replace("frame-src 'self'", `frame-src 'self' ${appsOrigin}`)
  return `${policy}; frame-ancestors 'none'`
}

/**
 * The copy as a page at `/s/<token>`, in pieces; its addresses are relative to it.
 * @param options.token of the link, for the addresses of files.
 * @param options.apps the address below which its apps are; null if there is none.
 */
export async function* sharePage(
  share: ShareRow,
  messages: AsyncIterable<string>,
  options: {
    token: string
    apps: string | null
    language: DocumentLanguage
    markdown: MarkdownRenderer
  },
): AsyncGenerator<string> {
  const { language } = options
  const texts = documentTexts(language)
  const { title, renewedAt } = share
  let isFirst = true
  for await (const json of messages) {
    const message = SharedMessage.parse(JSON.parse(json))
    if (isFirst) yield pageStart(title, message.text, renewedAt, language)
    isFirst = false
    yield `<article class="${message.role}"><h2>${texts[message.role]}</h2>\n`
    if (message.text !== '') yield `<p class="said" dir="auto">${escapeHtml(message.text)}</p>\n`
    const sources = message.sources ?? []
    for (const group of groupSteps(message.steps)) {
      const fold = foldOf(group, texts)
      if (fold !== null) yield fold.start
      for (const step of group) yield await stepHtml(step, sources, share, options)
      if (fold !== null) yield fold.end
    }
    yield sourcesHtml(sources, texts.sources)
    yield appsHtml(message.apps ?? [], options.apps, texts.app)
    yield `${filesHtml(message.files, options.token)}</article>\n`
  }
  if (isFirst) yield pageStart(title, '', renewedAt, language)
  const onward = `<a class="button" rel="nofollow" href="../continue/${encodeURIComponent(options.token)}">${texts.continue}</a>`
  yield `<p>${onward}</p><footer>${texts.written}</footer>${DOCUMENT_END}`
}

function pageStart(title: string, said: string, time: Date, language: DocumentLanguage): string {
  const texts = documentTexts(language)
  const about = Array.from(said.replaceAll(/\s+/g, ' ')).slice(0, 200).join('')
  const meta = (name: string, value: string): string =>
    `<meta property="og:${name}" content="${escapeHtml(value)}">\n`
  const head = [
    meta('type', 'article'),
    meta('site_name', 'NanoClaw'),
    meta('title', title),
    meta('description', about === '' ? texts.shared : about),
  ].join('')
  return `${documentStart(title, language, PAGE, head)}<header>${BRAND}<h1 class="title" dir="auto">${escapeHtml(title)}</h1><p class="note">${texts.copied} ${timeHtml(time, language)}</p></header>\n`
}

async function stepHtml(
  step: SharedStep,
  sources: readonly SharedSource[],
  { userId }: Pick<ShareRow, 'userId'>,
  { language, markdown }: { language: DocumentLanguage; markdown: MarkdownRenderer },
): Promise<string> {
  const texts = documentTexts(language)
  const folded = (summary: string, content: string): string =>
    `<details><summary>${escapeHtml(summary)}</summary><pre dir="auto">${escapeHtml(content)}</pre></details>\n`
  switch (step.type) {
    case 'text':
      return `<div class="body" dir="auto">${await markdown.render(userId, step.content, { language, hasFrames: true, sources })}</div>\n`
    case 'thinking':
      return folded(texts.thinking, step.content)
    case 'tool_call':
      return folded(
        `${texts.call}${texts.colon}${documentToolTitle(step.name, language)}`,
        step.arguments,
      )
    case 'tool_result':
      return folded(
        `${texts.result}${texts.colon}${documentToolTitle(step.name, language)}`,
        step.content,
      )
  }
}

function filesHtml(files: SharedMessage['files'], token: string): string {
  if (files.length === 0) return ''
  const items = files.map(({ id, name, mime }) => {
    const address = `../api/shared/${encodeURIComponent(token)}/files/${id}`
    const label = escapeHtml(name)
    return mime.startsWith('image/')
      ? `<li><img src="${address}" alt="${label}" loading="lazy"></li>`
      : `<li><a href="${address}" dir="auto">${label}</a></li>`
  })
  return `<ul class="files">${items.join('')}</ul>\n`
}

/** Each app runs once it is opened. */
function appsHtml(
  apps: NonNullable<SharedMessage['apps']>,
  address: string | null,
  label: string,
): string {
  if (address === null) return ''
  return apps
    .map(({ path }) => {
      const name = escapeHtml(path)
      const source = address + path.split('/').map(encodeURIComponent).join('/')
      return `<details class="app"><summary dir="auto">${escapeHtml(label)} ${name}</summary><iframe src="${escapeHtml(source)}" title="${name}" loading="lazy" sandbox="allow-scripts allow-forms allow-pointer-lock" allow="" referrerpolicy="no-referrer"></iframe></details>\n`
    })
    .join('')
}

/** The form for the password. It reveals nothing about the conversation. */
export function passwordPage(
  language: DocumentLanguage,
  error: 'wrong' | 'tooMany' | null,
): string {
  const texts = documentTexts(language)
  const note = error === null ? '' : `<p class="bad" role="alert">${texts[error]}</p>`
  return `${documentStart(texts.shared, language, PAGE)}${BRAND}<h1 class="title">${texts.shared}</h1><p>${texts.password}</p>${note}
<form method="post"><label for="password">${texts.field}</label><input id="password" name="password" type="password" required maxlength="200" autocomplete="off" autofocus${error === 'wrong' ? ' aria-invalid="true"' : ''}><button>${texts.open}</button></form>
${DOCUMENT_END}`
}

/** The page of a link that does not exist, has ended or was withdrawn. */
export function gonePage(language: DocumentLanguage): string {
  const texts = documentTexts(language)
  return `${documentStart(texts.shared, language, PAGE)}${BRAND}<h1 class="title">${texts.gone}</h1><p>${texts.goneText}</p>${DOCUMENT_END}`
}

/** Shown instead of the page to an address that opens too many. */
export function tooManyPage(language: DocumentLanguage): string {
  const texts = documentTexts(language)
  return `${documentStart(texts.shared, language, PAGE)}${BRAND}<h1 class="title">${texts.shared}</h1><p>${texts.tooMany}</p>${DOCUMENT_END}`
}
