// Reads CSV and TSV: each row becomes a line that names its columns, so that a passage makes sense on its own.
import Papa from 'papaparse'
import type { Section } from '../passage.ts'

const MAX_ROWS = 200_000
/** Rows per section; long sections are split later. */
const ROWS_PER_SECTION = 20

/** The first line with which Excel is told what separates the cells. */
const SEPARATOR_LINE = /^sep=([^\r\n])\r?\n/i

/**
 * Groups rows into sections; the first row names the columns. The heading gives the row numbers. Lines of text before the table,
 * such as the title of a report, are a section of their own.
 */
export function tableSections(text: string): Section[] {
  const [line = '', named] = SEPARATOR_LINE.exec(text) ?? []
  const table = text.slice(line.length).trim()
  const { data } = Papa.parse<string[]>(table, {
    delimiter: named ?? delimiterOf(table),
    skipEmptyLines: 'greedy',
    preview: MAX_ROWS + 1,
  })
  const isTable = data.some((row) => filledCells(row) > 1)
  const start = isTable ? data.findIndex((row) => filledCells(row) > 1) : 0
  const sections: Section[] = []
  if (start > 0)
    sections.push({ heading: null, page: null, text: linesOf(data.slice(0, start)).join('\n') })
  const [header = [], ...rows] = data.slice(start)
  if (rows.length === 0)
    return header.length === 0
      ? sections
      : [...sections, { heading: null, page: null, text: header.join(', ') }]
  for (let first = 0; first < rows.length; first += ROWS_PER_SECTION) {
    const group = rows.slice(first, first + ROWS_PER_SECTION)
    sections.push({
      heading: `rows ${first + 1}-${first + group.length}`,
      page: null,
      text: group.map((row) => describeRow(header, row)).join('\n'),
    })
  }
  return sections
}

const DELIMITERS = [',', ';', '\t', '|'] as const
const SAMPLE_ROWS = 30

/** What separates the cells: with it, the most rows have the same number of cells. */
function delimiterOf(table: string): string {
  let best: string = DELIMITERS[0]
  let most = 0
  for (const delimiter of DELIMITERS) {
    const { data } = Papa.parse<string[]>(table, {
      delimiter,
      skipEmptyLines: 'greedy',
      preview: SAMPLE_ROWS,
    })
    const times = new Map<number, number>()
    for (const { length } of data) if (length > 1) times.set(length, (times.get(length) ?? 0) + 1)
    const rows = Math.max(0, ...times.values())
    if (rows > most) {
      best = delimiter
      most = rows
    }
  }
  return best
}

const filledCells = (row: readonly string[]): number =>
  row.filter((cell) => cell.trim() !== '').length

const linesOf = (rows: readonly (readonly string[])[]): string[] =>
  rows.map((row) => row.filter((cell) => cell.trim() !== '').join(' '))

const describeRow = (header: readonly string[], row: readonly string[]): string =>
  row
    .map((cell, index) => {
      const column = header[index]?.trim()
      return cell.trim() === '' ? '' : column ? `${column}: ${cell.trim()}` : cell.trim()
    })
    .filter((cell) => cell !== '')
    .join('; ')
