// The tree of a project's files beside the open file; narrow layouts show one of the two.
import { FilePlus, FolderPlus, FolderUp, Search, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { reportError } from '../../ui/error-text.ts'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { PromptDialog } from '../../ui/prompt-dialog.tsx'
import { MUST_NOT_EXIST, useMakeFolder, useWriteFile } from './api/files.ts'
import { filesOfInput } from './api/upload.ts'
import { readFileDraft, writeFileDraft } from './file-drafts.ts'
import { FileSearch } from './file-search.tsx'
import { FileTree } from './file-tree.tsx'
import { FileView } from './file-view.tsx'
import { useDropFiles } from './use-drop-files.ts'

export type OpenFile = { path: string; line?: number | undefined }

export function FilesPanel({
  projectId,
  wide,
  initial = null,
}: {
  projectId: string
  wide: boolean
  /** The file to open first. */
  initial?: OpenFile | null
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<OpenFile | null>(initial)
  const [dirty, setDirty] = useState(false)
  const [wanted, setWanted] = useState<OpenFile | null | undefined>(undefined)
  const [searching, setSearching] = useState(false)
  const [making, setMaking] = useState<'file' | 'folder' | null>(null)
  const write = useWriteFile(projectId)
  const makeFolder = useMakeFolder(projectId)
  const drop = useDropFiles(projectId)
  const picker = useRef<HTMLInputElement>(null)
  const folderPicker = useRef<HTMLInputElement>(null)

  /** Opens another file at once, or after a question when there are unsaved changes. */
  const show = (next: OpenFile | null): void => {
    if (dirty) setWanted(next)
    else setOpen(next)
  }
  const saveAndGo = (next: OpenFile | null): void => {
    const draft = open === null ? undefined : readFileDraft(projectId, open.path)
    if (open === null || draft === undefined) return
    write.mutate(
      { path: open.path, content: draft.text, version: draft.base.version },
      {
        onSuccess: () => {
          writeFileDraft(projectId, open.path, null)
          setDirty(false)
          setOpen(next)
        },
        // The file stays open with its unsaved text; saving it there shows what to do.
        onError: reportError,
      },
    )
  }
  const make = (path: string): void => {
    if (making === 'folder') makeFolder.mutate(path)
    else
      write.mutate(
        { path, content: '', version: MUST_NOT_EXIST },
        { onSuccess: () => show({ path }), onError: reportError },
      )
  }
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div
        className={classNames(
          'min-h-0 flex-col overflow-y-auto py-2',
          drop.over ? 'bg-accent-soft' : '',
          wide
            ? 'flex w-72 shrink-0 border-e border-line max-md:w-full max-md:border-e-0'
            : 'w-full',
          open === null ? 'flex' : wide ? 'max-md:hidden' : 'hidden',
        )}
        {...drop.handlers}
      >
        <div className="mb-1 flex items-center gap-0.5 px-2">
          <span className="flex-1" />
          <IconButton
            icon={Search}
            label={t('files.search')}
            size="small"
            pressed={searching}
            onClick={() => setSearching(!searching)}
          />
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={t('files.upload')}
            onChange={(event) => {
              drop.offer(filesOfInput(event.target.files))
              event.target.value = ''
            }}
          />
          <IconButton
            icon={Upload}
            label={t('files.upload')}
            size="small"
            onClick={() => picker.current?.click()}
          />
          <input
            ref={(element) => {
              folderPicker.current = element
              // React has no property for choosing folders.
              element?.setAttribute('webkitdirectory', '')
            }}
            type="file"
            multiple
            hidden
            aria-label={t('files.uploadFolder')}
            onChange={(event) => {
              drop.offer(filesOfInput(event.target.files))
              event.target.value = ''
            }}
          />
          <IconButton
            icon={FolderUp}
            label={t('files.uploadFolder')}
            size="small"
            onClick={() => folderPicker.current?.click()}
          />
          <IconButton
            icon={FilePlus}
            label={t('files.newFile')}
            size="small"
            onClick={() => setMaking('file')}
          />
          <IconButton
            icon={FolderPlus}
            label={t('files.newFolder')}
            size="small"
            onClick={() => setMaking('folder')}
          />
        </div>
        {drop.progress !== null && (
          <div className="mx-3 mb-2 rounded-lg bg-hover/60 px-2.5 py-2">
            <div className="mb-1.5 flex items-center gap-2 text-[13px] text-soft">
              <span className="min-w-0 flex-1">
                {t(drop.progress < 1 ? 'projects.uploading' : 'projects.storing')}
              </span>
              <Button tone="quiet" size="small" onClick={drop.abort}>
                {t('common.cancel')}
              </Button>
            </div>
            <ProgressBar label={t('projects.uploading')} part={drop.progress} />
          </div>
        )}
        {searching ? (
          <FileSearch projectId={projectId} onOpen={show} />
        ) : (
          <FileTree
            projectId={projectId}
            active={open?.path ?? null}
            onOpen={(path) => show({ path })}
          />
        )}
      </div>
      {open === null ? (
        wide && (
          <div className="grid flex-1 place-items-center p-6 text-sm text-muted max-md:hidden">
            {t('files.choose')}
          </div>
        )
      ) : (
        <FileView
          key={`${open.path}:${open.line ?? ''}`}
          projectId={projectId}
          path={open.path}
          line={open.line}
          onDirty={setDirty}
          onMoved={(path) => {
            setDirty(false)
            setOpen(path === null ? null : { path })
          }}
          onClose={() => show(null)}
        />
      )}
      {making !== null && (
        <PromptDialog
          title={t(making === 'file' ? 'files.newFile' : 'files.newFolder')}
          label={t('files.path')}
          initial=""
          onClose={() => setMaking(null)}
          onSubmit={make}
        />
      )}
      <ConfirmDialog
        open={wanted !== undefined}
        onOpenChange={() => setWanted(undefined)}
        title={t('files.unsavedTitle')}
        text={t('files.unsavedText')}
        confirm={t('files.discard')}
        save={() => saveAndGo(wanted ?? null)}
        onConfirm={() => {
          setDirty(false)
          if (open !== null) writeFileDraft(projectId, open.path, null)
          setOpen(wanted ?? null)
        }}
      />
      {drop.question !== null && (
        <ConfirmDialog
          open
          onOpenChange={drop.cancel}
          title={t('files.dropTitle', { count: drop.question })}
          text={t('files.dropText')}
          confirm={t('files.add')}
          onConfirm={drop.confirm}
        />
      )}
    </div>
  )
}
