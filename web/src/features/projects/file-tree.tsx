// The folders and files of a project; a folder loads when it is opened. Arrow keys move through the tree.
import { ChevronRight, File, Folder } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fileSize } from '../../lib/format.ts'
import { classNames } from '../../ui/class-names.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Spinner } from '../../ui/states/feedback.tsx'
import { useFolder } from './api/files.ts'

type TreeProps = { projectId: string; active: string | null; onOpen: (path: string) => void }

/** Moves the focus among the visible rows; left and right close and open folders. */
const onTreeKey = (event: KeyboardEvent<HTMLElement>): void => {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-tree-row]')]
  const at = rows.findIndex((row) => row.matches(':focus'))
  const current = rows[at]
  const expanded = current?.getAttribute('aria-expanded') ?? null
  const to =
    event.key === 'ArrowDown'
      ? rows[at + 1]
      : event.key === 'ArrowUp'
        ? rows[at - 1]
        : event.key === 'Home'
          ? rows[0]
          : event.key === 'End'
            ? rows.at(-1)
            : undefined
  if (to !== undefined) {
    event.preventDefault()
    to.focus()
  } else if (
    (event.key === 'ArrowRight' && expanded === 'false') ||
    (event.key === 'ArrowLeft' && expanded === 'true')
  ) {
    event.preventDefault()
    current?.click()
  }
}

/** Begins at the root; a folder keeps whether it is open while the tree is drawn. */
export function FileTree(props: TreeProps) {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('files.tree')} className="px-1.5" onKeyDown={onTreeKey}>
      <Level {...props} path="" depth={0} />
    </nav>
  )
}

function Level({ path, depth, ...tree }: TreeProps & { path: string; depth: number }) {
  const { t, i18n } = useTranslation()
  const folder = useFolder(tree.projectId, path)
  if (folder.isPending)
    return (
      <div className="p-2">
        <Spinner size={14} />
      </div>
    )
  if (folder.isLoadingError)
    return <p className="p-2 text-sm text-bad">{errorText(folder.error)}</p>
  const { directories, files } = folder.data
  if (directories.length === 0 && files.length === 0)
    return (
      <p
        className="px-2.5 py-1 text-[13px] text-muted"
        style={{ paddingInlineStart: 10 + depth * 14 }}
      >
        {t(depth === 0 ? 'files.emptyProject' : 'files.emptyFolder')}
      </p>
    )
  return (
    <ul>
      {directories.map((directory) => (
        <Directory key={directory.path} {...directory} depth={depth} tree={tree} />
      ))}
      {files.map((file) => (
        <li key={file.path}>
          <button
            type="button"
            data-tree-row
            aria-current={file.path === tree.active ? 'true' : undefined}
            className={classNames(
              'flex h-8 w-full items-center gap-2 rounded-md pe-2 text-start text-[13.5px] -outline-offset-2',
              file.path === tree.active ? 'bg-hover font-medium' : 'hover:bg-hover/60',
            )}
            style={{ paddingInlineStart: 26 + depth * 14 }}
            onClick={() => tree.onOpen(file.path)}
          >
            <File size={14} aria-hidden className="shrink-0 text-muted" />
            <span className="min-w-0 flex-1 truncate">{file.name}</span>
            <span className="text-xs text-muted tabular-nums">
              {fileSize(file.size, i18n.language)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function Directory({
  name,
  path,
  depth,
  tree,
}: {
  name: string
  path: string
  depth: number
  tree: TreeProps
}) {
  const [open, setOpen] = useState(false)
  return (
    <li>
      <button
        type="button"
        data-tree-row
        aria-expanded={open}
        className="flex h-8 w-full items-center gap-1.5 rounded-md pe-2 text-start text-[13.5px] -outline-offset-2 hover:bg-hover/60"
        style={{ paddingInlineStart: 8 + depth * 14 }}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          size={13}
          aria-hidden
          className={classNames(
            'shrink-0 text-muted transition-transform',
            open && 'rotate-90 rtl:-rotate-90',
          )}
        />
        <Folder size={14} aria-hidden className="shrink-0 text-accent" />
        <span className="min-w-0 truncate">{name}</span>
      </button>
      {open && <Level {...tree} path={path} depth={depth + 1} />}
    </li>
  )
}
