// The toolbar above the file tree: search, upload, and the dialog for a new file or folder.
import { FilePlus, FolderPlus, FolderUp, Search, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { useMayChange } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { PromptDialog } from '../../ui/overlays/prompt-dialog.tsx'
import { reportError } from '../../ui/states/error-text.ts'
import { MUST_NOT_EXIST, useCreateFolder, useWriteFile } from './api/files.ts'
import { filesOfInput } from './api/upload.ts'

/** `onFiles` receives the files to upload. */
export function FilesToolbar({
  projectId,
  searching,
  onSearching,
  onFiles,
  onCreated,
}: {
  projectId: string
  searching: boolean
  onSearching: (searching: boolean) => void
  onFiles: (files: ReturnType<typeof filesOfInput>) => void
  onCreated: (path: string) => void
}) {
  const { t } = useTranslation()
  const mayChange = useMayChange(projectId)
  const [making, setMaking] = useState<'file' | 'folder' | null>(null)
  const write = useWriteFile(projectId)
  const createFolder = useCreateFolder(projectId)
  const close = (): void => setMaking(null)
  const make = (path: string): void => {
    if (making === 'folder') createFolder.mutate(path, { onSuccess: close })
    else
      write.mutate(
        { path, content: '', version: MUST_NOT_EXIST },
        {
          onSuccess: () => {
            close()
            onCreated(path)
          },
          onError: reportError,
        },
      )
  }
  return (
    <div className="@container mb-1">
      {/* The larger buttons of a touch screen fit beside an open file with less room between them. */}
      <div className="flex flex-wrap items-center justify-end gap-0.5 px-2 pointer-coarse:gap-0 pointer-coarse:px-0">
        <IconButton
          icon={Search}
          label={t('files.search')}
          size="small"
          pressed={searching}
          onClick={() => onSearching(!searching)}
        />
        {mayChange && (
          <>
            <UploadButtons onFiles={onFiles} />
            <IconButton
              icon={FilePlus}
              label={t('files.newFile')}
              size="small"
              words={t('files.newFile')}
              onClick={() => setMaking('file')}
            />
            <IconButton
              icon={FolderPlus}
              label={t('files.newFolder')}
              size="small"
              onClick={() => setMaking('folder')}
            />
          </>
        )}
      </div>
      {!mayChange && <p className="px-3 pb-1 text-note text-muted">{t('project.readOnly')}</p>}
      {making !== null && (
        <PromptDialog
          title={t(making === 'file' ? 'files.newFile' : 'files.newFolder')}
          label={t('files.path')}
          initial=""
          saving={write.isPending || createFolder.isPending}
          onClose={close}
          onSubmit={make}
        />
      )}
    </div>
  )
}

/** One button for files and one for a folder, because a file input supports only one of them. */
function UploadButtons({ onFiles }: { onFiles: (files: ReturnType<typeof filesOfInput>) => void }) {
  const { t } = useTranslation()
  const picker = useRef<HTMLInputElement>(null)
  const folderPicker = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('files.upload')}
        onChange={(event) => {
          onFiles(filesOfInput(event.target.files))
          event.target.value = ''
        }}
      />
      <IconButton
        icon={Upload}
        label={t('files.upload')}
        size="small"
        words={t('files.uploadWord')}
        isBrief
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
          onFiles(filesOfInput(event.target.files))
          event.target.value = ''
        }}
      />
      <IconButton
        icon={FolderUp}
        label={t('files.uploadFolder')}
        size="small"
        onClick={() => folderPicker.current?.click()}
      />
    </>
  )
}
