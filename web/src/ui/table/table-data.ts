// Tables from tool results: found in data, read from CSV, sorted, and written as CSV.

/** The value of a cell, as it is sorted and written to CSV. */
export type Cell = string | number | boolean | null

/** Data with the same columns in every row. */
export type Table = {
  columns: readonly string[]
  rows: readonly (readonly Cell[])[]
  /** Rows of the data, also those beyond the limit. */
  total: number
}

export const MAX_ROWS = 2_000
const MAX_COLUMNS = 40
const MAX_CELL_CHARACTERS = 2_000

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > MAX_CELL_CHARACTERS ? `${text.slice(0, MAX_CELL_CHARACTERS)}…` : text
}

/** A list of objects as a table, with a column for each name that occurs; null for everything else. */
export function tableFromList(value: unknown): Table | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const list: unknown[] = value
  const objects = list.slice(0, MAX_ROWS)
  if (!objects.every(isObject)) return null
  const names = new Set<string>()
  for (const one of objects)
    for (const name of Object.keys(one)) if (names.size < MAX_COLUMNS) names.add(name)
  if (names.size === 0) return null
  const columns = [...names]
  const rows = objects.map((one) => {
    const fields = new Map<string, unknown>(Object.entries(one))
    return columns.map((name) => cellOf(fields.get(name)))
  })
  return { columns, rows, total: list.length }
}

/** Text that looks like a number is one, so that it is sorted and aligned as one. */
const typed = (text: string): Cell =>
  /^-?(?:\d{1,15})(?:\.\d{1,15})?(?:e[+-]?\d{1,3})?$/i.test(text) && !/^-?0\d/.test(text)
    ? Number(text)
    : cellOf(text)

/** A CSV text, its first row being the names of the columns; null when it is no table of two columns or more. */
export async function tableFromCsv(text: string): Promise<Table | null> {
  const { default: csv } = await import('papaparse')
  const { data } = csv.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: 'greedy' })
  const [head, ...body] = data
  if (head === undefined || head.length < 2) return null
  const columns = head.slice(0, MAX_COLUMNS)
  const rows = body
    .slice(0, MAX_ROWS)
    .map((row) => columns.map((_name, place) => typed(row[place] ?? '')))
  return { columns, rows, total: body.length }
}

/** The sorted column, from 0. */
export type Order = { column: number; descending: boolean }

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const isEmpty = (cell: Cell | undefined): boolean =>
  cell === null || cell === undefined || cell === ''

/** The rows in order of one column; empty cells come last in both directions, and equal rows keep their order. */
export function sortRows(rows: Table['rows'], { column, descending }: Order): Table['rows'] {
  const sign = descending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [one[column] ?? null, other[column] ?? null]
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b))
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
    return sign * collator.compare(String(a), String(b))
  })
}

/** Numbers are aligned to the right when a column has nothing else. */
export const isNumeric = (rows: Table['rows'], column: number): boolean =>
  rows.some((row) => typeof row[column] === 'number') &&
  rows.every((row) => typeof row[column] === 'number' || isEmpty(row[column]))

/** A spreadsheet would run text that begins like a formula; an apostrophe keeps it text. */
const safe = (text: string): string => (/^[=+@\t\r-]/.test(text) ? `'${text}` : text)

/** `separator`: a comma for files, a tab for the clipboard, from which spreadsheets paste cells. */
export function writeTable({ columns, rows }: Table, separator: ',' | '\t'): string {
  const write = (cell: Cell): string => {
    const text = typeof cell === 'string' ? safe(cell) : String(cell ?? '')
    return /["\r\n\t]/.test(text) || text.includes(separator)
      ? `"${text.replaceAll('"', '""')}"`
      : text
  }
  return [columns, ...rows].map((row) => row.map(write).join(separator)).join('\r\n')
}
