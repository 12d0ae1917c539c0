// The page of a share: HTML that needs no script, in the language of the visitor.

import type { ShareRow } from '../db/repositories/shares.ts'
import { escapeHtml } from '../lib/escape-html.ts'
import { SharedMessage, type SharedStep } from '../protocol/share.ts'
import { DOCUMENT_END, documentPolicy, documentStart } from './html.ts'
import type { MarkdownRenderer } from './markdown.ts'

const english = {
  shared: 'Shared conversation',
  copied: 'Copy of',
  user: 'User',
  assistant: 'Assistant',
  thinking: 'Thinking',
  call: 'Tool call',
  result: 'Result',
  password: 'This conversation is protected by a password.',
  field: 'Password',
  open: 'Open',
  continue: 'Continue in NanoClaw',
  gone: 'Nothing is shared under this link',
  goneText: 'It may have ended, or its owner has withdrawn it.',
  written: 'Written by people and language models. Check what matters to you.',
}
const chinese: typeof english = {
  shared: '分享的对话',
  copied: '副本生成于',
  user: '用户',
  assistant: '助手',
  thinking: '思考过程',
  call: '工具调用',
  result: '结果',
  password: '这个对话受密码保护。',
  field: '密码',
  open: '打开',
  continue: '在 NanoClaw 中继续',
  gone: '这个链接下没有分享的内容',
  goneText: '它可能已到期，或已被分享者撤回。',
  written: '内容由用户和语言模型撰写，重要信息请自行核实。',
}

/** @param accepted the header `Accept-Language`. */
const textsFor = (accepted: string | undefined): typeof english =>
  /^\s*zh\b/i.test(accepted ?? '') ? chinese : english

/** The policy of every page below; nobody may frame it. */
export const SHARE_PAGE_POLICY = `${documentPolicy("'self'")}; frame-ancestors 'none'`

/** The copy as a page, in pieces. @param token of the link, for the addresses of files. */
export async function* sharePage(
  share: ShareRow,
  messages: AsyncIterable<string>,
  options: { token: string; accepted: string | undefined; markdown: MarkdownRenderer },
): AsyncGenerator<string> {
  const texts = textsFor(options.accepted)
  const { title, renewedAt } = share
  let isFirst = true
  for await (const json of messages) {
    const message = SharedMessage.parse(JSON.parse(json))
    if (isFirst) yield pageStart(title, message.text, renewedAt, texts)
    isFirst = false
    yield `<article class="${message.role}"><h2>${texts[message.role]}</h2>\n`
    if (message.text !== '') yield `<p class="said" dir="auto">${escapeHtml(message.text)}</p>\n`
    for (const step of message.steps) yield await stepHtml(step, texts, options.markdown)
    yield `${filesHtml(message.files, options.token)}</article>\n`
  }
  if (isFirst) yield pageStart(title, '', renewedAt, texts)
  const onward = `<a class="button" rel="nofollow" href="/continue/${encodeURIComponent(options.token)}">${texts.continue}</a>`
  yield `<p>${onward}</p><footer>${texts.written}</footer>${DOCUMENT_END}`
}

function pageStart(title: string, said: string, at: Date, texts: typeof english): string {
  const about = Array.from(said.replaceAll(/\s+/g, ' ')).slice(0, 200).join('')
  const meta = (name: string, value: string): string =>
    `<meta property="og:${name}" content="${escapeHtml(value)}">\n`
  const day = at.toISOString().slice(0, 10)
  const head = [
    meta('type', 'article'),
    meta('site_name', 'NanoClaw'),
    meta('title', title),
    meta('description', about === '' ? texts.shared : about),
  ].join('')
  return `${documentStart(title, head)}<header><h1 class="title" dir="auto">${escapeHtml(title)}</h1><p class="note">${texts.copied} <time datetime="${at.toISOString()}">${day}</time></p></header>\n`
}

async function stepHtml(
  step: SharedStep,
  texts: typeof english,
  markdown: MarkdownRenderer,
): Promise<string> {
  const folded = (summary: string, content: string): string =>
    `<details><summary>${escapeHtml(summary)}</summary><pre dir="auto">${escapeHtml(content)}</pre></details>\n`
  switch (step.type) {
    case 'text':
      return `<div class="body" dir="auto">${await markdown.render(step.content)}</div>\n`
    case 'thinking':
      return folded(texts.thinking, step.content)
    case 'tool_call':
      return folded(`${texts.call}: ${step.name}`, step.arguments)
    case 'tool_result':
      return folded(`${texts.result}: ${step.name}`, step.content)
  }
}

function filesHtml(files: SharedMessage['files'], token: string): string {
  if (files.length === 0) return ''
  const items = files.map(({ id, name, mime }) => {
    const address = `/api/shared/${encodeURIComponent(token)}/files/${id}`
    const label = escapeHtml(name)
    return mime.startsWith('image/')
      ? `<li><img src="${address}" alt="${label}" loading="lazy"></li>`
      : `<li><a href="${address}" dir="auto">${label}</a></li>`
  })
  return `<ul class="files">${items.join('')}</ul>\n`
}

/** The form for the password. It says nothing about the conversation. */
export function passwordPage(accepted: string | undefined, error: string | null): string {
  const texts = textsFor(accepted)
  const note = error === null ? '' : `<p class="bad" role="alert">${escapeHtml(error)}</p>`
  return `${documentStart(texts.shared)}<h1 class="title">${texts.shared}</h1><p>${texts.password}</p>${note}
<form method="post"><label for="password">${texts.field}</label><input id="password" name="password" type="password" required maxlength="200" autocomplete="off" autofocus><button>${texts.open}</button></form>
${DOCUMENT_END}`
}

/** The page of a link that does not exist, has ended or was withdrawn. */
export function gonePage(accepted: string | undefined): string {
  const texts = textsFor(accepted)
  return `${documentStart(texts.shared)}<h1 class="title">${texts.gone}</h1><p>${texts.goneText}</p>${DOCUMENT_END}`
}
