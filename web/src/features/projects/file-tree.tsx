// A project's files as a tree: one tab stop with arrow keys. A folder loads when it opens.
import { ChevronRight, FileSearch, Folder, LoaderCircle, TriangleAlert } from 'lucide-react'
import { useRef, useState } from 'react'
import { fileSize } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Spinner } from '../../ui/states/feedback.tsx'
import { useFolders } from './api/files.ts'
import { fileIcon } from './file-icon.ts'
import { foldersOf, type Row, visibleRows } from './file-rows.ts'
import { useTreeKeys } from './use-tree-keys.ts'

const INDENT_PIXELS = 14
const FOLDER_PADDING_PIXELS = 8
/** Aligns the names of files with those of folders, which have an arrow. */
const FILE_PADDING_PIXELS = 26

/**
 * The folders that contain the `active` file are open, others as the user left them. `onOpen` receives the path of a file.
 */
export function FileTree({
  projectId,
  active,
  onOpen,
}: {
  projectId: string
  active: string | null
  onOpen: (path: string) => void
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<string | null>(null)
  if (active !== shown) {
    setShown(active)
    if (active !== null) setOpen(new Set([...open, ...foldersOf(active)]))
  }
  const toggle = (path: string): void => {
    const next = new Set(open)
    if (!next.delete(path)) next.add(path)
    setOpen(next)
  }
  const { listings, errors, retry } = useFolders(projectId, ['', ...open])
  const rows = visibleRows(listings, open)
  const tree = useRef<HTMLDivElement>(null)
  const keys = useTreeKeys({ tree, rows, active, onToggle: toggle })

  const rootError = errors.get('')
  if (rootError !== undefined) return <Failed message={errorText(rootError)} onRetry={retry} />
  if (!listings.has(''))
    return (
      <div className="p-3">
        <Spinner size={14} />
      </div>
    )
  if (rows.length === 0)
    return <p className="px-4 py-1 text-note text-muted">{t('files.emptyProject')}</p>
  return (
    <div ref={tree} role="tree" aria-label={t('files.tree')} className="px-1.5" {...keys.handlers}>
      {rows.map((row) => (
        <TreeItem
          key={row.path}
          row={row}
          isActive={row.path === active}
          isStop={row === keys.stop}
          isLoading={!listings.has(row.path)}
          note={
            errors.get(row.path) ??
            (isEmpty(listings.get(row.path)) ? t('files.emptyFolder') : null)
          }
          onFocus={() => keys.setCurrent(row.path)}
          onChoose={() => (row.kind === 'folder' ? toggle(row.path) : onOpen(row.path))}
        />
      ))}
    </div>
  )
}

const isEmpty = (listing: { files: unknown[]; directories: unknown[] } | undefined): boolean =>
  listing?.files.length === 0 && listing.directories.length === 0

function TreeItem({
  row,
  isActive,
  isStop,
  isLoading,
  note,
  onFocus,
  onChoose,
}: {
  row: Row
  isActive: boolean
  /** Whether Tab reaches this row. */
  isStop: boolean
  /** Whether it is an open folder that is loading. */
  isLoading: boolean
  /** Shown below an open folder instead of entries: that it is empty, or its error. */
  note: Error | string | null
  onFocus: () => void
  onChoose: () => void
}) {
  const { i18n } = useTranslation()
  const { kind, name, level, isOpen = false } = row
  const indent = (level - 1) * INDENT_PIXELS
  const isFolder = kind === 'folder'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all its rows
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-expanded={isFolder ? isOpen : undefined}
      aria-selected={isActive}
      aria-busy={isFolder && isOpen && isLoading && note === null}
      tabIndex={isStop ? 0 : -1}
      className="group/row cursor-pointer rounded-md text-compact -outline-offset-2"
      onFocus={onFocus}
      onClick={onChoose}
    >
      <span
        className={classNames(
          'flex h-8 items-center gap-1.5 rounded-md pe-2 pointer-coarse:h-11',
          isActive ? 'bg-hover font-medium' : 'group-hover/row:bg-hover/60',
        )}
        style={{
          paddingInlineStart: indent + (isFolder ? FOLDER_PADDING_PIXELS : FILE_PADDING_PIXELS),
        }}
      >
        {isFolder ? (
          <>
            <ChevronRight
              size={13}
              aria-hidden
              className={classNames(
                'shrink-0 text-muted transition-transform',
                isOpen && 'rotate-90 rtl:-rotate-90',
              )}
            />
            <Folder size={14} aria-hidden className="shrink-0 text-accent" />
          </>
        ) : (
          <FileMark name={name} />
        )}
        <span dir="auto" className="min-w-0 flex-1 truncate rtl:text-right" title={name}>
          {name}
        </span>
        {row.document !== undefined && <SearchableMark status={row.document.status} />}
        {row.size !== undefined && (
          <bdi className="text-xs text-muted tabular-nums">{fileSize(row.size, i18n.language)}</bdi>
        )}
      </span>
      {isOpen && (note !== null || isLoading) && (
        <span
          className={classNames(
            'block py-1 text-note',
            note instanceof Error ? 'text-bad' : 'text-muted',
          )}
          style={{ paddingInlineStart: indent + INDENT_PIXELS + FILE_PADDING_PIXELS }}
        >
          {note === null ? <Spinner size={14} /> : note instanceof Error ? errorText(note) : note}
        </span>
      )}
    </div>
  )
}

/** The icon of a file, by its name. */
function FileMark({ name }: { name: string }) {
  const Icon = fileIcon(name)
  return <Icon size={14} aria-hidden className="shrink-0 text-muted" />
}

const MARKS = { pending: LoaderCircle, ready: FileSearch, failed: TriangleAlert } as const

/** Says that a file is searchable, is being read for that, or could not be read. */
function SearchableMark({ status }: { status: keyof typeof MARKS }) {
  const { t } = useTranslation()
  const Icon = MARKS[status]
  const text = t(`files.searchableState.${status}`)
  return (
    <span
      title={text}
      className={classNames('shrink-0', status === 'failed' ? 'text-bad' : 'text-accent')}
    >
      <Icon size={13} aria-hidden className={classNames(status === 'pending' && 'animate-spin')} />
      <span className="sr-only">{text}</span>
    </span>
  )
}
