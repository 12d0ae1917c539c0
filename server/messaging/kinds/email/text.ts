// What a person wrote in an email: its text without what it quotes, and an HTML page as text.
import { Parser } from 'htmlparser2'

const MAX_HTML_CHARACTERS = 300_000
/** Begins the message that is answered, as programs for mail write it. */
const SEPARATOR =
  /^(-{2,} ?(original|forwarded|ursprüngliche|message d|mensaje|mensagem|исходное|原始|元の|원본)[^\n]*-{2,}|_{10,})\s*$/i
const HEADER_FROM = /^\*?(from|von|de|da|от|发件人|寄件者|差出人|보낸 사람)\*?\s?[:：]/i
const HEADER_DATE =
  /^\*?(sent|date|gesendet|datum|envoyé|enviado|data|дата|отправлено|发送时间|日期|寄件日期|送信日時|보낸 날짜|날짜)\*?\s?[:：]/i
/** Longer lines begin no quote: patterns are tried on short ones only. */
const MAX_MARK_CHARACTERS = 1_000
/** `On Monday, Ann wrote:` in any language: what names a time or an address and ends with a colon. */
const isIntroduction = (text: string): boolean =>
  text.length <= MAX_MARK_CHARACTERS && /[:：]$/.test(text) && /[\d@]/.test(text)

/** The text of an answer without the message that it quotes at its end, and without its signature. */
export function ownText(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const header = lines.findIndex(
    (line, at) =>
      (line.length <= MAX_MARK_CHARACTERS && SEPARATOR.test(line)) ||
      (HEADER_FROM.test(line) &&
        lines.slice(at + 1, at + 4).some((next) => HEADER_DATE.test(next))),
  )
  let end = header === -1 ? lines.length : header
  const back = (isLeft: (line: string) => boolean): void => {
    while (end > 0 && isLeft(lines[end - 1] ?? '')) end -= 1
  }
  const isEmpty = (line: string): boolean => line.trim() === ''
  back(isEmpty)
  const full = end
  back((line) => isEmpty(line) || line.startsWith('>'))
  // Its introduction may be broken into two lines.
  if (end < full)
    for (const size of [1, 2]) {
      const start = Math.max(0, end - size)
      if (!isIntroduction(lines.slice(start, end).join(' ').trim())) continue
      end = start
      break
    }
  const signature = lines.indexOf('-- ')
  if (signature !== -1 && signature < end) end = signature
  const own = lines.slice(0, end).join('\n').trim()
  // Somebody who only quotes means what they quote.
  return own === '' ? text.trim() : own
}

const BLOCKS = new Set([
  'p',
  'div',
  'br',
  'li',
  'tr',
  'table',
  'ul',
  'ol',
  'pre',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
])
const HIDDEN = new Set(['script', 'style', 'head', 'title', 'template', 'noscript'])

/** The text of a page; quotes begin with `>`, as in mail without HTML. */
export function textOfHtml(html: string): string {
  const lines: string[] = []
  let line = ''
  let hidden = 0
  let quotes = 0
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hidden += 1
      if (name === 'blockquote') quotes += 1
      if (BLOCKS.has(name) || name === 'blockquote') newLine()
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1)
      if (name === 'blockquote') quotes = Math.max(0, quotes - 1)
      if (BLOCKS.has(name) && name !== 'br') newLine()
    },
    ontext(piece) {
      if (hidden > 0) return
      const said = piece.replaceAll(/\s+/g, ' ')
      if (said.trim() === '' && (line === '' || line.endsWith(' '))) return
      if (quotes > 0 && line === '') line = '> '
      line += line === '' ? said.trimStart() : said
    },
  })
  const newLine = (): void => {
    const ended = line.trimEnd()
    if (ended !== '' || lines.length > 0) lines.push(ended)
    line = ''
  }
  parser.end(html.slice(0, MAX_HTML_CHARACTERS))
  newLine()
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
