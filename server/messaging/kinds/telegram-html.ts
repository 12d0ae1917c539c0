// Markdown as models write it, in the few HTML tags that Telegram knows.
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const FENCED =
  /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n {0,3}\1[`~]*[ \t]*(?=\n|$)|$(?![\s\S]))/gm
const CODE = /`([^`\n]+)`/g

/** The text with code, bold, links and headings marked; everything else is as it was. */
export function telegramHtml(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(FENCED)) {
    html += proseHtml(text.slice(end, found.index))
    html += `<pre>${escaped(found[2] ?? '')}</pre>`
    end = found.index + found[0].length
  }
  return html + proseHtml(text.slice(end))
}

function proseHtml(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(CODE)) {
    html += markedHtml(text.slice(end, found.index))
    html += `<code>${escaped(found[1] ?? '')}</code>`
    end = found.index + found[0].length
  }
  return html + markedHtml(text.slice(end))
}

/** Bold, headings and links. Tags never cross a line, so they are always closed. */
const markedHtml = (text: string): string =>
  escaped(text)
    .replaceAll(/^#{1,6} +([^\n]+)$/gm, '<b>$1</b>')
    .replaceAll(/\*\*([^*\n]+)\*\*/g, '<b>$1</b>')
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^\s)"]+)\)/g, '<a href="$2">$1</a>')
