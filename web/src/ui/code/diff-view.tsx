// A readable diff with line numbers, colours and file headings, unified or side by side.

import { Columns2, Rows2 } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../class-names.ts'
import { ScrollRegion } from '../scroll-region.tsx'
import { type DiffFile, type DiffRow, isCut, pairRows, readDiff } from './diff-lines.ts'
import { LineCounts } from './line-counts.tsx'

const ROW_TONES = {
  add: 'bg-ok-soft',
  remove: 'bg-bad-soft',
  context: '',
  hunk: 'bg-hover/60 text-muted',
} as const

const numberClass =
  'w-8 sm:w-11 shrink-0 select-none pe-1.5 sm:pe-2 text-end text-muted tabular-nums'

function UnifiedRow({ row }: { row: DiffRow }) {
  if (row.kind === 'hunk')
    return <div className={classNames('px-3', ROW_TONES.hunk)}>{row.text}</div>
  return (
    <div className={classNames('flex', ROW_TONES[row.kind])}>
      <span className={numberClass}>{row.before ?? ''}</span>
      <span className={numberClass}>{row.after ?? ''}</span>
      <span className="w-4 shrink-0 select-none text-muted">
        {row.kind === 'add' ? '+' : row.kind === 'remove' ? '−' : ''}
      </span>
      <span className="min-w-0 pe-3 whitespace-pre-wrap [overflow-wrap:anywhere]">{row.text}</span>
    </div>
  )
}

function HalfRow({ row, side }: { row: DiffRow | null; side: 'before' | 'after' }) {
  return (
    <div
      className={classNames(
        'flex min-w-0 basis-1/2',
        row === null ? 'bg-hover/40' : ROW_TONES[row.kind],
        side === 'after' && 'border-s border-line',
      )}
    >
      <span className={numberClass}>{row?.[side] ?? ''}</span>
      <span className="min-w-0 pe-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {row?.text ?? ''}
      </span>
    </div>
  )
}

function FileDiff({ file, split }: { file: DiffFile; split: boolean }) {
  return (
    <div dir="ltr" className="code-lines text-code">
      {split
        ? pairRows(file.rows).map((pair) =>
            pair.kind === 'hunk' ? (
              <UnifiedRow key={pair.key} row={pair.row} />
            ) : (
              <div key={pair.key} className="flex">
                <HalfRow row={pair.before} side="before" />
                <HalfRow row={pair.after} side="after" />
              </div>
            ),
          )
        : file.rows.map((row) => <UnifiedRow key={row.key} row={row} />)}
    </div>
  )
}

/** What the first lines are in, such as a function, instead of the name. Where they stand, their numbers say. */
function withoutName(file: DiffFile): DiffFile {
  const [first, ...rest] = file.rows
  if (first?.kind !== 'hunk') return { ...file, name: '' }
  return { ...file, name: first.text.replace(/^@@ [^@]* @@ ?/, ''), rows: rest }
}

/** Shows a unified diff of one or more files: in tool results, approval requests and checkpoints. */
export const DiffView = memo(function DiffView({
  diff,
  isNamed = false,
}: {
  diff: string
  /** Whether the file's name already stands above. */
  isNamed?: boolean
}) {
  const { t } = useTranslation()
  const [split, setSplit] = useState(false)
  const files = useMemo(() => {
    const read = readDiff(diff)
    return isNamed && read.length === 1 ? read.map(withoutName) : read
  }, [diff, isNamed])
  return (
    <div className="flex flex-col gap-2">
      {files.map((file) => (
        <figure key={file.key} className="overflow-hidden rounded-xl border border-line bg-surface">
          <figcaption className="flex h-8 items-center gap-2 border-b border-line bg-sunken pe-1.5 ps-3 text-xs">
            <span className="min-w-0 flex-1 truncate font-mono text-soft">{file.name}</span>
            <LineCounts added={file.added} removed={file.removed} />
            <button
              type="button"
              aria-pressed={split}
              aria-label={t('diff.sideBySide')}
              title={t('diff.sideBySide')}
              className="grid size-7 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink max-sm:hidden"
              onClick={() => setSplit(!split)}
            >
              {split ? <Rows2 size={14} aria-hidden /> : <Columns2 size={14} aria-hidden />}
            </button>
          </figcaption>
          <ScrollRegion className="max-h-[28rem] overflow-auto bg-surface py-1 -outline-offset-2">
            <FileDiff file={file} split={split} />
          </ScrollRegion>
        </figure>
      ))}
      {isCut(diff) && <p className="px-3 pb-2 text-note text-warn">{t('diff.cut')}</p>}
    </div>
  )
})
