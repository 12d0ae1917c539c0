// Writes HTML as Markdown for models: names stay as they are, and the cells of tables stay in their columns.
import TurndownService from 'turndown'

/** A table beyond these is none that a person reads. */
const MAX_SPAN = 100
const MAX_COLUMNS = 16_384

/** The part of an element that is read here; Turndown brings its own document model. */
export interface HtmlElement {
  readonly nodeName: string
  readonly nodeType: number
  readonly textContent: string | null
  readonly childNodes: ArrayLike<HtmlElement>
  readonly parentNode: HtmlElement | null
  getAttribute?(name: string): string | null
}

const TEXT_NODE = 3
const BLOCK =
  /^(?:P|DIV|BR|LI|UL|OL|TABLE|TR|TD|TH|H[1-6]|BLOCKQUOTE|PRE|SECTION|ARTICLE|DT|DD|DL)$/

/**
 * A converter without the backslashes that a display of Markdown needs: models repeat them in code. A line that only looks like
 * a heading or a code fence begins with `LITERAL`, which `withoutLiteralMarks` removes.
 */
export function createMarkdownWriter({
  framesRows = false,
  ...options
}: {
  bulletListMarker?: '-'
  /** Whether rows begin and end with a bar, as in Markdown, or have bars between cells only. */
  framesRows?: boolean
} = {}): TurndownService {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    ...options,
  })
  turndown.escape = (text) => text.replace(/^(?=#{1,6}\s|```|~~~|=+\s*$|--+\s*$)/, LITERAL)
  const grids = new WeakMap<HtmlElement, Map<HtmlElement, string[]>>()
  turndown.addRule('table row', {
    filter: 'tr',
    replacement(_content, row) {
      const table = tableOf(row)
      const grid = grids.get(table) ?? gridOf(table)
      grids.set(table, grid)
      const cells = grid.get(row) ?? []
      if (cells.every((cell) => cell === '')) return ''
      const text = cells.join(' | ')
      return framesRows ? `\n| ${text} |` : `\n${text}`
    },
  })
  turndown.addRule('ticked box', {
    filter: (node) => node.nodeName === 'INPUT' && node.getAttribute('type') === 'checkbox',
    replacement: (_content, node) =>
      'getAttribute' in node && node.getAttribute('checked') !== null ? '[x]' : '[ ]',
  })
  return turndown
}

/** A character that no text contains. */
const LITERAL = '\ue000'

/** The Markdown without the marks of lines that only look like headings. */
export const withoutLiteralMarks = (markdown: string): string => markdown.replaceAll(LITERAL, '')

function tableOf(row: HtmlElement): HtmlElement {
  let table = row
  while (table.nodeName !== 'TABLE' && table.parentNode !== null) table = table.parentNode
  return table
}

/** The rows of a table as texts of their cells, as `gridOf` arranges them. */
export const rowsOfTable = (table: HtmlElement): string[][] => [...gridOf(table).values()]

/** The cells of each row, with a merged cell's text in each of its rows and empty cells in its other columns. */
function gridOf(table: HtmlElement): Map<HtmlElement, string[]> {
  const grid = new Map<HtmlElement, string[]>()
  /** Cells that reach into the next rows, by column. */
  const reaching = new Map<number, { text: string; rows: number }>()
  for (const row of rowsOf(table)) {
    const cells: string[] = []
    const fillReaching = (): void => {
      for (let above = reaching.get(cells.length); above !== undefined; ) {
        above.rows -= 1
        if (above.rows <= 0) reaching.delete(cells.length)
        cells.push(above.text)
        above = reaching.get(cells.length)
      }
    }
    for (const cell of elementsOf(row)) {
      fillReaching()
      if (cells.length >= MAX_COLUMNS) break
      const text = lineOfText(cell)
      const rows = spanOf(cell, 'rowspan')
      for (let column = 0; column < spanOf(cell, 'colspan'); column += 1) {
        const shown = column === 0 ? text : ''
        if (rows > 1) reaching.set(cells.length, { text: shown, rows: rows - 1 })
        cells.push(shown)
      }
    }
    fillReaching()
    grid.set(row, cells)
  }
  return grid
}

const elementsOf = (node: HtmlElement): HtmlElement[] =>
  Array.from(node.childNodes).filter(({ nodeName }) => nodeName === 'TD' || nodeName === 'TH')

/** The rows of a table itself, not those of tables in its cells. */
function rowsOf(table: HtmlElement): HtmlElement[] {
  return Array.from(table.childNodes).flatMap((child) =>
    child.nodeName === 'TR'
      ? [child]
      : /^(?:THEAD|TBODY|TFOOT)$/.test(child.nodeName)
        ? rowsOf(child)
        : [],
  )
}

const spanOf = (cell: HtmlElement, name: 'rowspan' | 'colspan'): number =>
  Math.min(MAX_SPAN, Math.max(1, Number(cell.getAttribute?.(name) ?? 1) || 1))

/** The text of an element, such as a cell, on one line: its paragraphs are separated by spaces. */
export function lineOfText(cell: HtmlElement): string {
  const pieces: string[] = []
  const collect = (node: HtmlElement): void => {
    if (node.nodeType === TEXT_NODE) pieces.push(node.textContent ?? '')
    if (node.nodeName === 'INPUT' && node.getAttribute?.('type') === 'checkbox')
      pieces.push(node.getAttribute('checked') === null ? '[ ]' : '[x]')
    if (BLOCK.test(node.nodeName)) pieces.push(' ')
    for (const child of Array.from(node.childNodes)) collect(child)
    if (BLOCK.test(node.nodeName)) pieces.push(' ')
  }
  collect(cell)
  return pieces.join('').replaceAll(/\s+/g, ' ').trim()
}
