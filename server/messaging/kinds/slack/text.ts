// The texts of Slack: Markdown as models write it in Slack's own marks, and what people write without them.
const FENCED =
  /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n {0,3}\1[`~]*[ \t]*(?=\n|$)|$(?![\s\S]))/gm
const CODE = /`[^`\n]+`/g

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The text with bold, headings and links marked as Slack does; code stays as it is. */
export function slackMarks(text: string): string {
  let marked = ''
  let end = 0
  for (const found of text.matchAll(FENCED)) {
    marked += proseMarks(text.slice(end, found.index))
    marked += `\`\`\`\n${escaped(found[2] ?? '')}\n\`\`\``
    end = found.index + found[0].length
  }
  return marked + proseMarks(text.slice(end))
}

function proseMarks(text: string): string {
  let marked = ''
  let end = 0
  for (const found of text.matchAll(CODE)) {
    marked += lineMarks(text.slice(end, found.index)) + escaped(found[0])
    end = found.index + found[0].length
  }
  return marked + lineMarks(text.slice(end))
}

const lineMarks = (text: string): string =>
  escaped(text)
    .replaceAll(/^#{1,6} +([^\n]+)$/gm, (_, title: string) => `*${title.replaceAll('**', '')}*`)
    .replaceAll(/\*\*([^*\n]+)\*\*/g, '*$1*')
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^\s)|"]+)\)/g, '<$2|$1>')

/** A text in which nothing is marked and nobody is addressed. */
export const slackPlain = escaped

/** What a person wrote, without the mention of `bot` and without Slack's marks for addresses and people. */
export const writtenText = (text: string, bot: string | null): string =>
  text
    .replaceAll(/<([^<>\n]{1,2000})>/g, (whole, inside: string) => {
      const [target = '', label] = inside.split('|')
      if (bot !== null && target === `@${bot}`) return ''
      if (target.startsWith('@') || target.startsWith('#'))
        return `${target[0]}${label ?? target.slice(1)}`
      if (target.startsWith('!')) return `@${label ?? target.slice(1)}`
      if (!/^(https?|mailto|tel):/.test(target)) return whole
      const address = target.replace(/^(mailto|tel):/, '')
      return label === undefined || label === address ? address : `${label} (${address})`
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()
