// Extracts the text of a PDF page by page; lines in clearly larger type are headings.
import { type PdfLine, type PdfPage, readPdfPages } from '../../lib/pdf.ts'
import type { Section } from '../passage.ts'

/** Minimum ratio of a heading's type size to that of the body. */
const MIN_HEADING_RATIO = 1.15
const MAX_HEADING_CHARACTERS = 120
const MAX_PAGES = 5_000

/** The pages of a PDF, and its text in sections. */
export interface PdfText {
  pages: readonly PdfPage[]
  /** With their page numbers. */
  sections: Section[]
}

/** `bytes` are empty afterwards. Throws when the file is damaged, encrypted or has too many pages. */
export async function pdfSections(bytes: Uint8Array): Promise<PdfText> {
  const pages = await readPdfPages(bytes, MAX_PAGES)
  const bodySize = mostCommonSize(pages.flatMap(({ lines }) => lines))
  const sections: Section[] = []
  let heading: string | null = null
  /** The page of a heading without text below it so far. */
  let bareOn: number | null = null
  const closeHeading = (): void => {
    if (bareOn !== null && heading !== null)
      sections.push({ heading: null, page: bareOn, text: heading })
    bareOn = null
  }
  pages.forEach(({ lines, additions }, index) => {
    const page = index + 1
    let text = ''
    let last: PdfLine | undefined
    const close = (): void => {
      if (text.trim() !== '') {
        sections.push({ heading, page, text: text.trim() })
        bareOn = null
      }
      text = ''
    }
    for (const line of lines) {
      if (line.size >= bodySize * MIN_HEADING_RATIO && line.text.length <= MAX_HEADING_CHARACTERS) {
        const continues =
          text === '' && last !== undefined && last.size === line.size && heading !== null
        close()
        if (continues && isBelow(last, line)) heading = `${heading}${joined(heading, line.text)}`
        else {
          closeHeading()
          heading = line.text
        }
        bareOn ??= page
      } else {
        const gap = last === undefined ? 0 : last.y - line.y
        const paragraph = gap > line.size * 1.9 || gap < 0
        text += text === '' ? line.text : `${paragraph ? '\n\n' : '\n'}${line.text}`
      }
      last = line
    }
    if (additions.length > 0) text += `${text === '' ? '' : '\n\n'}${additions.join('\n')}`
    close()
  })
  closeHeading()
  return { pages, sections }
}

/** Whether `lower` is the line right below `upper`, as in a heading of two lines. */
const isBelow = (upper: PdfLine | undefined, lower: PdfLine): boolean =>
  upper !== undefined && upper.y - lower.y > 0 && upper.y - lower.y < lower.size * 2

/** The second part of a text, with the space before it that Chinese does not have. */
const joined = (left: string | null, right: string): string =>
  /[\u2E80-\u9FFF]$/.test(left ?? '') && /^[\u2E80-\u9FFF]/.test(right) ? right : ` ${right}`

/** The type size that most characters have. */
function mostCommonSize(lines: readonly PdfLine[]): number {
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
