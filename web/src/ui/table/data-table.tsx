// A data table: sortable by column, folded if long, can be copied and downloaded as CSV.

import { ArrowDown, ArrowUp, ArrowUpDown, Download } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { classNames } from '../class-names.ts'
import { CopyButton } from '../markdown/copy-button.tsx'
import { Fold } from './fold.tsx'
import {
  type Cell,
  columnLetters,
  isNumeric,
  type Order,
  sortRows,
  type Table,
  tableFromCsv,
  writeTable,
} from './table-data.ts'

const ROWS_FOLDED = 12
/** The limit for a table with its own view. */
const ROWS_FOLDED_ALONE = 200
const CELL_CHARACTERS_SHOWN = 200

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([`\ufeff${text}`], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

const shown = (cell: Cell, language: string): string => {
  if (cell === null) return ''
  if (typeof cell === 'number')
    return new Intl.NumberFormat(language, {
      maximumFractionDigits: 12,
      useGrouping: false,
    }).format(cell)
  const text = String(cell)
  return text.length > CELL_CHARACTERS_SHOWN ? `${text.slice(0, CELL_CHARACTERS_SHOWN)}…` : text
}

const nextOrder = (order: Order | null, column: number): Order | null => {
  if (order?.column !== column) return { column, descending: false }
  return order.descending ? null : { column, descending: true }
}

/** `name` is shown above the table and is the name of the downloaded file. */
export function DataTable({
  name,
  table,
  alone = false,
}: {
  name: string
  table: Table
  /** Whether the table has its own view, which scrolls and shows many rows. */
  alone?: boolean
}) {
  const { t } = useTranslation()
  const [order, setOrder] = useState<Order | null>(null)
  const { columns, total } = table
  const rows = useMemo(
    () => (order === null ? table.rows : sortRows(table.rows, order)),
    [table, order],
  )
  const numeric = useMemo(
    () => columns.map((_name, column) => isNumeric(table.rows, column)),
    [columns, table],
  )
  const sorted = { ...table, rows }
  const fileName = name.replace(/^.*\//, '').replace(/\.[^.]*$/, '')
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-2 text-xs text-muted">
        <span className="min-w-0 truncate">
          <span className="font-mono">{name}</span>
          {name === '' ? '' : ' · '}
          {t('results.rows', { count: total })}
        </span>
        <span className="flex">
          <CopyButton text={writeTable(sorted, '\t')} />
          <button
            type="button"
            className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-xs text-muted hover:bg-hover hover:text-ink"
            onClick={() => download(`${fileName || 'table'}.csv`, writeTable(sorted, ','))}
          >
            <Download size={13} aria-hidden />
            {t('results.download')}
          </button>
        </span>
      </div>
      <Fold
        total={rows.length}
        folded={alone ? ROWS_FOLDED_ALONE : ROWS_FOLDED}
        unit="rows"
        draw={(count) => (
          <div
            // The keyboard must be able to reach a scrolling region.
            {...(alone ? {} : { tabIndex: 0 })}
            className={classNames(
              'rounded-lg border border-line bg-surface -outline-offset-2',
              // With its own view, that view scrolls, and the head of the table sticks to its top.
              alone ? 'w-fit min-w-full' : 'max-h-112 overflow-auto',
            )}
          >
            <table className="w-full border-collapse text-note tabular-nums">
              <thead>
                <tr>
                  {atPlaces(columns).map(({ place: column, item: title }) => (
                    <Head
                      key={column}
                      title={title.trim() === '' ? columnLetters(column) : title}
                      right={numeric[column] === true}
                      order={order?.column === column ? order : null}
                      onSort={() => setOrder(nextOrder(order, column))}
                    />
                  ))}
                </tr>
              </thead>
              <Body rows={rows.slice(0, count)} numeric={numeric} />
            </table>
          </div>
        )}
      />
      {total > rows.length && (
        <p className="text-note text-muted">
          {t('results.omitted.rows', { count: total - rows.length })}
        </p>
      )}
    </div>
  )
}

function Body({
  rows,
  numeric,
}: {
  rows: Table['rows']
  /** For each column, whether it contains only numbers, which are aligned at the end. */
  numeric: readonly boolean[]
}) {
  const { i18n } = useTranslation()
  return (
    <tbody>
      {atPlaces(rows).map(({ place, item: row }) => (
        <tr key={place} className="border-t border-line">
          {atPlaces(row).map(({ place: column, item: cell }) => (
            <td
              key={column}
              dir="auto"
              className={classNames(
                // Numbers and words stay whole: the table is scrolled instead.
                'max-w-80 px-3 py-1.5 align-top wrap-break-word',
                numeric[column] === true && 'text-end whitespace-nowrap',
              )}
            >
              {shown(cell, i18n.language)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  )
}

function Head({
  title,
  right,
  order,
  onSort,
}: {
  title: string
  right: boolean
  /** Null unless the table is sorted by this column. */
  order: Order | null
  onSort: () => void
}) {
  const Icon = order === null ? ArrowUpDown : order.descending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      aria-sort={order === null ? undefined : order.descending ? 'descending' : 'ascending'}
      className={classNames(
        'sticky top-0 bg-sunken p-0 font-medium',
        right ? 'text-end' : 'text-start',
      )}
    >
      <button
        type="button"
        className="inline-flex items-center gap-1 px-3 py-1.5 whitespace-nowrap -outline-offset-2 hover:text-accent"
        onClick={onSort}
      >
        {title.slice(0, 80)}
        <Icon size={12} aria-hidden className={order === null ? 'text-muted/60' : 'text-accent'} />
      </button>
    </th>
  )
}

/** Shows a CSV text as a table; `children` while it is parsed, and if it is not a table. */
export function CsvTable({
  name,
  text,
  alone = false,
  children,
}: {
  name: string
  text: string
  /** See `DataTable`. */
  alone?: boolean
  children?: React.ReactNode
}) {
  const [table, setTable] = useState<Table | null>(null)
  useEffect(() => {
    let isUnmounted = false
    void tableFromCsv(text).then((read) => {
      if (!isUnmounted) setTable(read)
    })
    return () => {
      isUnmounted = true
    }
  }, [text])
  return table === null ? children : <DataTable name={name} table={table} alone={alone} />
}
