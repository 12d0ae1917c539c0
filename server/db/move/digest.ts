// The checksum of a table, the same for the same rows on both databases and in any order.
import { createHash } from 'node:crypto'
import type { ColumnKind, MovedRow, MovedTable, MovedValue } from './moved-tables.ts'
import { columnList, rowsOf } from './moved-tables.ts'

/** The number of rows of a table, and the sum of their hashes. */
export interface TableDigest {
  rows: number
  sum: string
}

export const isSameDigest = (one: TableDigest, other: TableDigest): boolean =>
  one.rows === other.rows && one.sum === other.sum

/** Digits of a row's hash, as many as PostgreSQL's bigint can hold with any value. */
const HASH_DIGITS = 15
const NOTHING = '-'

const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

function realText(value: number): string {
  const bytes = Buffer.alloc(8)
  // A negative zero equals zero, and does not survive everywhere.
  bytes.writeDoubleBE(value === 0 ? 0 : value)
  return bytes.toString('hex')
}

/** What is hashed of a value. `fieldInPostgres` is the same in SQL. */
function fieldText(kind: ColumnKind, value: Exclude<MovedValue, null>): string {
  if (Buffer.isBuffer(value)) return sha256(value)
  if (kind === 'real') return realText(Number(value))
  if (typeof value === 'boolean') return value ? '1' : '0'
  return String(value)
}

const lengthAndText = (text: string): string => `${Buffer.byteLength(text)}:${text}`

/** Adds up the rows of a table. */
export function createDigest({ columns }: MovedTable) {
  let rows = 0
  let sum = 0n
  return {
    add(row: MovedRow): void {
      let line = ''
      for (const [at, { kind }] of columns.entries()) {
        const value = row[at] ?? null
        line += value === null ? NOTHING : lengthAndText(fieldText(kind, value))
      }
      rows += 1
      sum += BigInt(`0x${sha256(line).slice(0, HASH_DIGITS)}`)
    },
    result: (): TableDigest => ({ rows, sum: sum.toString() }),
  }
}

function fieldInPostgres(kind: ColumnKind, column: string): string {
  switch (kind) {
    case 'text':
      return column
    case 'bytes':
      return `encode(sha256(${column}), 'hex')`
    case 'real':
      return `encode(float8send(${column} + 0.0::float8), 'hex')`
    case 'boolean':
      return `${column}::integer::text`
    case 'time':
      return `${millisecondsInPostgres(column)}::text`
    default:
      return `${column}::text`
  }
}

/** The milliseconds of a time, in SQL. */
export const millisecondsInPostgres = (column: string): string =>
  `(extract(epoch from ${column}) * 1000)::bigint`

/** The statement that returns `rows` and `sum` of a table, computed by PostgreSQL. */
export function digestInPostgres(table: MovedTable): string {
  const fields = table.columns.map(({ name, kind }) => {
    const text = fieldInPostgres(kind, `"${name}"`)
    return `case when "${name}" is null then '${NOTHING}' else octet_length(${text}) || ':' || ${text} end`
  })
  return `select count(*)::text as rows, coalesce(sum(('x' || left(encode(sha256(convert_to(${fields.join(' || ')}, 'UTF8')), 'hex'), ${HASH_DIGITS}))::bit(${HASH_DIGITS * 4})::bigint), 0)::text as sum
    from (select ${columnList(table)} from ${rowsOf(table)}) part`
}
