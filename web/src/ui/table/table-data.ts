// Tables from tool results: created from JSON or CSV, sorted, and written as CSV.

/** The value of a cell, used for sorting and for CSV. */
export type Cell = string | number | boolean | null

/** Data with the same columns in every row. */
export type Table = {
  columns: readonly string[]
  rows: readonly (readonly Cell[])[]
  /** The number of rows in the data, including those beyond `MAX_ROWS`. */
  total: number
}

/** Rows beyond this limit are left out. */
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

/** A table from a list of objects, with a column for each key; null for other values. */
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

/** The letters of a column without a name, as in spreadsheets: A to Z, then AA. `column` counts from 0. */
export const columnLetters = (column: number): string =>
  (column < 26 ? '' : columnLetters(Math.floor(column / 26) - 1)) +
  String.fromCharCode(65 + (column % 26))

/** Converts text that looks like a number, so that it is sorted and aligned as one. */
const typed = (text: string): Cell =>
  /^-?(?:\d{1,15})(?:\.\d{1,15})?(?:e[+-]?\d{1,3})?$/i.test(text) && !/^-?0\d/.test(text)
    ? Number(text)
    : cellOf(text)

/** A table from rows of texts, the first of which names the columns. `total` is the number of rows below it. */
export function tableFromRows(
  [head = [], ...body]: readonly (readonly string[])[],
  total = body.length,
): Table {
  const width = Math.min(
    MAX_COLUMNS,
    body.reduce((most, row) => Math.max(most, row.length), head.length),
  )
  const columns = Array.from({ length: width }, (_none, place) => head[place] ?? '')
  const rows = body
    .slice(0, MAX_ROWS)
    .map((row) => columns.map((_name, place) => typed(row[place] ?? '')))
  return { columns, rows, total }
}

/** Parses a CSV text whose first row names the columns; null if it has fewer than two columns. */
export async function tableFromCsv(text: string): Promise<Table | null> {
  const { default: csv } = await import('papaparse')
  const { data } = csv.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: 'greedy' })
  const [head, ...body] = data
  if (head === undefined || head.length < 2) return null
  return tableFromRows([head, ...body.map((row) => row.slice(0, head.length))])
}

/** A sort order; `column` is the index of the column. */
export type Order = { column: number; descending: boolean }

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const isEmpty = (cell: Cell | undefined): boolean =>
  cell === null || cell === undefined || cell === ''

/** Sorts rows by one column, stably. Empty cells come last in both directions. */
export function sortRows(rows: Table['rows'], { column, descending }: Order): Table['rows'] {
  const sign = descending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [one[column] ?? null, other[column] ?? null]
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b))
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
    return sign * collator.compare(String(a), String(b))
  })
}

/** Whether a column contains only numbers and empty cells, and at least one number. */
export const isNumeric = (rows: Table['rows'], column: number): boolean =>
  rows.some((row) => typeof row[column] === 'number') &&
  rows.every((row) => typeof row[column] === 'number' || isEmpty(row[column]))

/** Prefixes text that a spreadsheet would run as a formula with an apostrophe. */
const escapeFormula = (text: string): string => (/^[=+@\t\r-]/.test(text) ? `'${text}` : text)

/** Writes a table as text. Use a comma as `separator` for CSV files, a tab for the clipboard, from which spreadsheets paste cells. */
export function writeTable({ columns, rows }: Table, separator: ',' | '\t'): string {
  const write = (cell: Cell): string => {
    const text = typeof cell === 'string' ? escapeFormula(cell) : String(cell ?? '')
    return /["\r\n\t]/.test(text) || text.includes(separator)
      ? `"${text.replaceAll('"', '""')}"`
      : text
  }
  return [columns, ...rows].map((row) => row.map(write).join(separator)).join('\r\n')
}
