// Reads CSV and TSV: each row becomes a line that names its columns, so that a passage makes sense on its own.
import Papa from 'papaparse'
import type { Section } from './passage.ts'

const MAX_ROWS = 200_000
/** Rows per section; long sections are split later. */
const ROWS_PER_SECTION = 20

/** Groups rows into sections; the first row names the columns. The heading gives the row numbers. */
export function tableSections(text: string): Section[] {
  const { data } = Papa.parse<string[]>(text.trim(), {
    skipEmptyLines: 'greedy',
    preview: MAX_ROWS + 1,
  })
  const [header = [], ...rows] = data
  if (rows.length === 0)
    return header.length === 0 ? [] : [{ heading: null, page: null, text: header.join(', ') }]
  const sections: Section[] = []
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

const describeRow = (header: readonly string[], row: readonly string[]): string =>
  row
    .map((cell, index) => {
      const column = header[index]?.trim()
      return cell.trim() === '' ? '' : column ? `${column}: ${cell.trim()}` : cell.trim()
    })
    .filter((cell) => cell !== '')
    .join('; ')
