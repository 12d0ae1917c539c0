// Extracts the text of a PDF page by page; lines in clearly larger type are headings.
import { extractTextItems, type StructuredTextItem } from 'unpdf'
import type { Section } from './passage.ts'

/** Minimum ratio of a heading's type size to that of the body. */
const MIN_HEADING_RATIO = 1.15
const MAX_HEADING_CHARACTERS = 120
const MAX_PAGES = 5_000

/** Pairs of a radical (Unicode block 2E80) and the character it stands for. */
const RADICALS =
  '⺁厂⺇几⺌小⺍小⺎兀⺏尣⺐尢⺑尢⺒巳⺓幺⺛旡⺝月⺟母⺠民⺫目⺬示⺭礻⺰纟⺲罒⺳冈⺴冈⺶羊⺷羊⺸羊⺼肉⻁虎⻂衤⻃覀⻄西⻅见⻆角⻇角⻈讠⻉贝⻋车⻐钅⻑長⻒镸⻓长⻔门⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻡首⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟'

interface Line {
  text: string
  size: number
  /** Distance of the baseline from the bottom of the page. */
  y: number
}

/** The number of pages, and sections with their page numbers; `bytes` are empty afterwards. Throws when the file is damaged, encrypted or has too many pages. */
export async function pdfSections(
  bytes: Uint8Array,
): Promise<{ pages: number; sections: Section[] }> {
  const { totalPages, items } = await extractTextItems(bytes)
  if (totalPages > MAX_PAGES) throw new Error(`it has more than ${MAX_PAGES} pages`)
  const pages = items.map(linesOf)
  const bodySize = mostCommonSize(pages.flat())
  const sections: Section[] = []
  let heading: string | null = null
  pages.forEach((lines, index) => {
    const page = index + 1
    let text = ''
    let last: Line | undefined
    const close = (): void => {
      if (text.trim() !== '') sections.push({ heading, page, text: text.trim() })
      text = ''
    }
    for (const line of lines) {
      if (line.size >= bodySize * MIN_HEADING_RATIO && line.text.length <= MAX_HEADING_CHARACTERS) {
        const continues =
          text === '' && last !== undefined && last.size === line.size && heading !== null
        close()
        heading =
          continues && isBelow(last, line) ? `${heading}${joined(heading, line.text)}` : line.text
      } else {
        const gap = last === undefined ? 0 : last.y - line.y
        const paragraph = gap > line.size * 1.9 || gap < 0
        text += text === '' ? line.text : `${paragraph ? '\n\n' : '\n'}${line.text}`
      }
      last = line
    }
    close()
  })
  return { pages: totalPages, sections }
}

/** Whether `lower` is the line right below `upper`, as in a heading of two lines. */
const isBelow = (upper: Line | undefined, lower: Line): boolean =>
  upper !== undefined && upper.y - lower.y > 0 && upper.y - lower.y < lower.size * 2

/** The second part of a text, with the space before it that Chinese does not have. */
const joined = (left: string | null, right: string): string =>
  /[\u2E80-\u9FFF]$/.test(left ?? '') && /^[\u2E80-\u9FFF]/.test(right) ? right : ` ${right}`

function linesOf(items: readonly StructuredTextItem[]): Line[] {
  const lines: Line[] = []
  let current: Line | null = null
  const close = (): void => {
    const text = normalizeCharacters(current?.text ?? '')
      .replace(/[ \t]+/g, ' ')
      .trim()
    if (current !== null && text !== '') lines.push({ ...current, text })
    current = null
  }
  for (const item of items) {
    const moved =
      current !== null && Math.abs(current.y - item.y) > Math.max(2, item.fontSize * 0.6)
    if (moved && item.str !== '') close()
    current ??= { text: '', size: 0, y: item.y }
    if (item.str.trim() !== '')
      current.size = Math.max(current.size, Math.round(item.fontSize * 10) / 10)
    current.text += item.str
    if (item.hasEOL) close()
  }
  close()
  return lines
}

/**
 * Fonts of PDFs often map to Chinese radicals instead of characters, and to ligatures instead of letters: they look alike,
 * but no search finds them. Unicode normalization folds most of them; the table has the rest.
 */
const normalizeCharacters = (text: string): string =>
  text
    .replace(/[\u2F00-\u2FDF\uF900-\uFAFF\uFB00-\uFB06]/g, (character) =>
      character.normalize('NFKC'),
    )
    .replace(/[\u2E80-\u2EFF]/g, (radical) => CHARACTER_OF_RADICAL[radical] ?? radical)

const CHARACTER_OF_RADICAL: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(
    { length: RADICALS.length / 2 },
    (_, index) => [RADICALS.charAt(index * 2), RADICALS.charAt(index * 2 + 1)] as const,
  ),
)

/** The type size that most characters have. */
function mostCommonSize(lines: readonly Line[]): number {
  const weights = new Map<number, number>()
  for (const { size, text } of lines) weights.set(size, (weights.get(size) ?? 0) + text.length)
  let best = 0
  let most = -1
  for (const [size, weight] of weights)
    if (weight > most) {
      best = size
      most = weight
    }
  return best
}
