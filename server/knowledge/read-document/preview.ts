// The content of Office and PDF documents for a preview: bounded, as plain text in blocks, rows, slides or pages.
import { parseHTML } from 'linkedom'
import { type HtmlElement, lineOfText, rowsOfTable } from '../../lib/html-markdown.ts'
import type { DocumentPreview, PreviewBlock } from '../../protocol/projects/preview.ts'
import type { Section } from '../passage.ts'
import { docxHtml } from './docx-sections.ts'
import { readSheets } from './sheet-sections.ts'
import { readSlides } from './slide-sections.ts'

/** What a person looks through; the whole file can be downloaded. */
const MAX_CHARACTERS = 500_000
const MAX_BLOCKS = 5_000
const MAX_SHEETS = 50
const MAX_ROWS = 1_000
const MAX_COLUMNS = 100
const MAX_CELL_CHARACTERS = 1_000
/** What a cell counts beside its text: also empty cells take time to send. */
const CELL_CHARACTERS = 10
const MAX_PAGES = 500

/**
 * Takes items until they have too many characters or there are too many.
 * @param cut shortens the first one, which is shown however long it is.
 */
function bounded<T>(
  items: readonly T[],
  most: number,
  sizeOf: (item: T) => number,
  cut: (item: T) => T,
): { shown: T[]; truncated: boolean } {
  let left = MAX_CHARACTERS
  const fits = items.slice(0, most).findIndex((item) => {
    left -= sizeOf(item)
    return left < 0
  })
  if (fits === 0) return { shown: items.slice(0, 1).map(cut), truncated: true }
  const shown = items.slice(0, fits === -1 ? most : fits)
  return { shown, truncated: shown.length < items.length }
}

const cells = (row: readonly string[]): string[] =>
  row.slice(0, MAX_COLUMNS).map((cell) => cell.slice(0, MAX_CELL_CHARACTERS))

const charactersOfRow = (row: readonly string[]): number =>
  row.reduce((sum, cell) => sum + cell.length + CELL_CHARACTERS, 0)

const charactersOf = (rows: readonly (readonly string[])[]): number =>
  rows.reduce((sum, row) => sum + charactersOfRow(row), 0)

const cutText = (text: string): string => text.slice(0, MAX_CHARACTERS)

/** One row alone is never too long. */
const cutRows = (rows: readonly string[][]): string[][] =>
  bounded(rows, MAX_ROWS, charactersOfRow, (row) => row).shown

/** @throws for damaged files. */
export async function previewText(bytes: Uint8Array): Promise<DocumentPreview> {
  const { document } = parseHTML(
    `<!doctype html><html><body>${await docxHtml(bytes)}</body></html>`,
  )
  const blocks = blocksOf(document.body)
  const { shown, truncated } = bounded(
    blocks,
    MAX_BLOCKS,
    (block) => (block.kind === 'table' ? charactersOf(block.rows) : block.text.length),
    (block) =>
      block.kind === 'table'
        ? { ...block, rows: cutRows(block.rows) }
        : { ...block, text: cutText(block.text) },
  )
  return { kind: 'text', blocks: shown, truncated }
}

const ELEMENT_NODE = 1

const childrenOf = (element: HtmlElement): HtmlElement[] =>
  Array.from(element.childNodes).filter(({ nodeType }) => nodeType === ELEMENT_NODE)

const isList = ({ nodeName }: HtmlElement): boolean => nodeName === 'UL' || nodeName === 'OL'

function blocksOf(parent: HtmlElement, listLevel = 0): PreviewBlock[] {
  return childrenOf(parent).flatMap((element): PreviewBlock[] => {
    if (isList(element)) return blocksOf(element, listLevel + 1)
    if (element.nodeName === 'LI') return itemOf(element, Math.max(1, listLevel))
    if (element.nodeName === 'TABLE')
      return [{ kind: 'table', rows: rowsOfTable(element).slice(0, MAX_ROWS).map(cells) }]
    const text = lineOfText(element)
    const level = /^H([1-6])$/.exec(element.nodeName)?.[1]
    if (text === '') return []
    return level === undefined
      ? [{ kind: 'paragraph', text }]
      : [{ kind: 'heading', level: Number(level), text }]
  })
}

/** An item, and the items of the lists in it. */
function itemOf(element: HtmlElement, level: number): PreviewBlock[] {
  const nodes = Array.from(element.childNodes)
  const text = lineOfText({
    ...{ nodeName: 'LI', nodeType: ELEMENT_NODE, textContent: null, parentNode: null },
    childNodes: nodes.filter((node) => !isList(node)),
  })
  const own: PreviewBlock[] = text === '' ? [] : [{ kind: 'item', level, text }]
  return [...own, ...nodes.filter(isList).flatMap((list) => blocksOf(list, level + 1))]
}

/** @throws for damaged files. */
export function previewSheets(bytes: Uint8Array): DocumentPreview {
  const sheets = readSheets(bytes).map(({ name, text }) => {
    const lines = text === '' ? [] : text.split('\n')
    const rows = lines.slice(0, MAX_ROWS).map((line) => cells(line.split('\t')))
    return { name: name.slice(0, MAX_CELL_CHARACTERS), rows, total_rows: lines.length }
  })
  const { shown, truncated } = bounded(
    sheets,
    MAX_SHEETS,
    ({ rows }) => charactersOf(rows),
    (sheet) => ({ ...sheet, rows: cutRows(sheet.rows) }),
  )
  return {
    kind: 'sheets',
    sheets: shown,
    truncated: truncated || shown.some(({ rows, total_rows }) => rows.length < total_rows),
  }
}

/** @throws for damaged files. */
export function previewSlides(bytes: Uint8Array): DocumentPreview {
  const slides = readSlides(bytes).map((slide, index) => ({ number: index + 1, ...slide }))
  const { shown, truncated } = bounded(
    slides,
    MAX_PAGES,
    ({ text, notes }) => text.length + notes.length,
    (slide) => ({ ...slide, text: cutText(slide.text), notes: cutText(slide.notes) }),
  )
  return { kind: 'slides', slides: shown, truncated }
}

/** The sections of a PDF by page. */
export function previewPages(sections: readonly Section[]): DocumentPreview {
  const pages = new Map<number, string[]>()
  let heading: string | null = null
  for (const section of sections) {
    const lines = pages.get(section.page ?? 1) ?? []
    if (section.heading !== null && section.heading !== heading) lines.push(section.heading)
    heading = section.heading
    lines.push(section.text)
    pages.set(section.page ?? 1, lines)
  }
  const all = [...pages].map(([number, lines]) => ({ number, text: lines.join('\n') }))
  const { shown, truncated } = bounded(
    all,
    MAX_PAGES,
    ({ text }) => text.length,
    (page) => ({ ...page, text: cutText(page.text) }),
  )
  return { kind: 'pages', pages: shown, truncated }
}
