// Splits Markdown into sections by its headings.
import type { Section } from '../passage.ts'

const MAX_HEADING_CHARACTERS = 200

/** Returns sections in order. Recognizes `#` and underlined headings, and ignores those in code blocks. */
export function markdownSections(markdown: string): Section[] {
  const sections: Section[] = []
  const path: string[] = []
  let lines: string[] = []
  let fence: string | null = null

  const close = (): void => {
    const text = lines.join('\n').trim()
    lines = []
    const heading = path.filter((part) => part !== '').join(' > ')
    if (text !== '') sections.push({ heading: heading === '' ? null : heading, page: null, text })
  }
  const open = (level: number, title: string): void => {
    close()
    path.length = level - 1
    for (let index = 0; index < level - 1; index += 1) path[index] ??= ''
    path.push(plainTitle(title))
  }

  for (const line of markdown.split(/\r\n?|\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined) {
      if (fence === null) fence = mark
      else if (mark.startsWith(fence)) fence = null
      lines.push(line)
      continue
    }
    const hashes = fence === null ? /^ {0,3}(#{1,6})[ \t]+(.*)$/.exec(line) : null
    const underline = fence === null ? /^ {0,3}(=+|-{2,})[ \t]*$/.exec(line)?.[1] : undefined
    const before = lines.at(-1)?.trim() ?? ''
    if (hashes?.[1] !== undefined && hashes[2] !== undefined) {
      open(hashes[1].length, hashes[2])
    } else if (underline !== undefined && before !== '' && (lines.at(-2)?.trim() ?? '') === '') {
      lines.pop()
      open(underline.startsWith('=') ? 1 : 2, before)
    } else lines.push(line)
  }
  close()
  return sections
}

/** The visible text of a heading: without closing hashes, link targets and emphasis. */
const plainTitle = (title: string): string =>
  title
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/\[([^\]]{0,300})\]\([^)]{0,2000}\)/g, '$1')
    // Underscores within a word are part of a name.
    .replace(/[*`]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)/g, '')
    .trim()
    .slice(0, MAX_HEADING_CHARACTERS)
