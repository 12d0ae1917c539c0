// The open file: edit, save, rename, download, delete. Never overwrites another person's change without asking.
import { ArrowLeft, Download, Ellipsis, PencilLine, Save, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../lib/api-client.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { errorText, reportError } from '../../ui/error-text.ts'
import { Failed, Loading } from '../../ui/feedback.tsx'
import { lazyPart } from '../../ui/late.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { PartBoundary } from '../../ui/part-boundary.tsx'
import { PromptDialog } from '../../ui/prompt-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import {
  downloadFile,
  type FileContent,
  useDeleteFile,
  useFileContent,
  useMoveFile,
  useWriteFile,
} from './api/files.ts'
import { BinaryFile, shownAs } from './binary-file.tsx'
import { readFileDraft, writeFileDraft } from './file-drafts.ts'
import { FilePreview, previewOf } from './file-preview.tsx'

const CodeEditor = lazyPart(() =>
  import('../../ui/code-editor.tsx').then((module) => module.CodeEditor),
)

type Props = {
  projectId: string
  path: string
  line: number | undefined
  onDirty: (dirty: boolean) => void
  /** The file has a new path, or was deleted (null). */
  onMoved: (path: string | null) => void
  onClose: () => void
}

export function FileView(props: Props) {
  const shown = shownAs(props.path)
  return shown === null ? <TextFile {...props} /> : <BinaryFile {...props} shown={shown} />
}

function TextFile(props: Props) {
  const file = useFileContent(props.projectId, props.path)
  if (file.isPending) return <Loading />
  if (file.isLoadingError) {
    const status = file.error instanceof ApiError ? file.error.status : 0
    // The server returns text only up to a certain size; every file can be downloaded.
    return status === 400 || status === 413 ? (
      <BinaryFile {...props} tooLarge={status === 413} />
    ) : (
      <div className="min-w-0 flex-1">
        <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
      </div>
    )
  }
  return (
    <Editing
      {...props}
      file={file.data}
      readAgain={() => file.refetch().then(({ data }) => data)}
    />
  )
}

function Editing({
  projectId,
  path,
  line,
  onDirty,
  onMoved,
  onClose,
  file,
  readAgain,
}: Props & { file: FileContent; readAgain: () => Promise<FileContent | undefined> }) {
  const { t } = useTranslation()
  // Editing stays based on the version read first; a later read only shows that the file has changed.
  const [draft] = useState(() => readFileDraft(projectId, path))
  const [base, setBase] = useState(
    draft !== undefined && draft.base.content !== file.content ? draft.base : file,
  )
  const [text, setText] = useState(draft?.text ?? file.content)
  // What the editor starts with; after a reload it starts with the newer version.
  const [initial, setInitial] = useState(text)
  const [edition, setEdition] = useState(0)
  const [renaming, setRenaming] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const write = useWriteFile(projectId)
  const move = useMoveFile(projectId)
  const remove = useDeleteFile(projectId)
  const preview = previewOf(path)
  const [view, setView] = useState<'preview' | 'edit'>(
    preview === null || line !== undefined || draft !== undefined ? 'edit' : 'preview',
  )
  const dirty = text !== base.content
  const conflict = write.error instanceof ApiError && write.error.status === 409
  const changedElsewhere = conflict || (file.content !== base.content && file.content !== text)

  useEffect(() => onDirty(dirty), [dirty, onDirty])
  useEffect(
    () => writeFileDraft(projectId, path, dirty ? { base, text } : null),
    [projectId, path, dirty, base, text],
  )

  const save = (version: string | null): void =>
    write.mutate(
      { path, content: text, version },
      {
        onSuccess: setBase,
        onError: (error) => {
          if (!(error instanceof ApiError && error.status === 409)) reportError(error)
        },
      },
    )
  const reload = async (): Promise<void> => {
    const fresh = await readAgain()
    if (fresh === undefined) return
    setBase(fresh)
    setText(fresh.content)
    setInitial(fresh.content)
    setEdition(edition + 1)
    write.reset()
  }
  return (
    <section aria-label={path} className="flex min-w-0 flex-1 flex-col">
      <header className="flex min-h-11 shrink-0 items-center gap-1 border-b border-line px-2">
        <IconButton icon={ArrowLeft} label={t('files.tree')} size="small" onClick={onClose} />
        <p className="min-w-0 flex-1 truncate font-mono text-[13px]" title={path}>
          {path}
          {dirty && <span className="ms-2 font-sans text-xs text-warn">{t('files.unsaved')}</span>}
        </p>
        {preview !== null && (
          <Segmented
            label={t('files.view')}
            value={view}
            options={(['preview', 'edit'] as const).map((value) => ({
              value,
              label: t(`files.${value}`),
            }))}
            onChange={setView}
          />
        )}
        <Button
          size="small"
          tone={dirty ? 'primary' : 'quiet'}
          icon={Save}
          disabled={!dirty || write.isPending}
          onClick={() => save(base.version)}
        >
          {t('common.save')}
        </Button>
        <Menu
          align="end"
          trigger={<IconButton icon={Ellipsis} label={t('files.actions')} size="small" />}
        >
          <MenuItem
            icon={Download}
            onSelect={() => void downloadFile(projectId, path).catch(reportError)}
          >
            {t('files.download')}
          </MenuItem>
          <MenuItem icon={PencilLine} onSelect={() => setRenaming(true)}>
            {t('conversation.rename')}
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={Trash2} danger onSelect={() => setDeleting(true)}>
            {t('common.delete')}
          </MenuItem>
        </Menu>
      </header>
      {changedElsewhere && (
        <div
          role="alert"
          className="flex flex-wrap items-center gap-2 border-b border-warn/40 bg-warn-soft px-3 py-2 text-sm text-warn"
        >
          <span className="flex-1">{t('files.changedElsewhere')}</span>
          <Button size="small" onClick={() => void reload()}>
            {t('files.takeTheirs')}
          </Button>
          <Button size="small" tone="danger" onClick={() => save(null)}>
            {t('files.keepMine')}
          </Button>
        </div>
      )}
      {preview !== null && view === 'preview' && (
        <div className="min-h-0 flex-1">
          <FilePreview kind={preview} path={path} text={text} />
        </div>
      )}
      {/* Stays mounted behind the preview, with its undo history. */}
      <div className={view === 'edit' ? 'min-h-0 flex-1' : 'hidden'}>
        <PartBoundary fallback={<Loading />}>
          <CodeEditor
            key={edition}
            name={path}
            initial={initial}
            label={path}
            line={line}
            onChange={setText}
            onSave={() => save(base.version)}
          />
        </PartBoundary>
      </div>
      {renaming && (
        <PromptDialog
          title={t('conversation.rename')}
          label={t('files.path')}
          initial={path}
          onClose={() => setRenaming(false)}
          onSubmit={(to) =>
            move.mutate(
              { path, to },
              {
                onSuccess: () => {
                  if (dirty) writeFileDraft(projectId, to, { base, text })
                  writeFileDraft(projectId, path, null)
                  onMoved(to)
                },
              },
            )
          }
        />
      )}
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('files.deleteTitle', { path })}
        text={t('files.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() =>
          remove.mutate(path, {
            onSuccess: () => {
              writeFileDraft(projectId, path, null)
              onMoved(null)
            },
          })
        }
      />
    </section>
  )
}
