// Creates a project: empty, or from a chosen or dropped folder, with upload progress.
import { useQueryClient } from '@tanstack/react-query'
import { FolderUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { Project } from '../../../../server/protocol/projects/project.ts'
import { projectKeys, useCreateProject } from '../../lib/api/projects.ts'
import { fileSize } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { ProgressBar } from '../../ui/states/progress-bar.tsx'
import { filesOfInput, type PathedFile, upload } from './api/upload.ts'
import { useDropTarget } from './use-drop-target.ts'

/** With `upload`, the dialog begins with choosing a folder. Cancelling stops a pending upload. */
export function NewProjectDialog({
  upload: uploads,
  onClose,
}: {
  upload: boolean
  onClose: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const create = useCreateProject()
  const [name, setName] = useState('')
  const [files, setFiles] = useState<PathedFile[]>([])
  const [progress, setProgress] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | undefined>()
  const sending = useRef(new AbortController())
  // Closing the dialog or leaving the page cancels the upload.
  useEffect(() => {
    const controller = new AbortController()
    sending.current = controller
    return () => controller.abort()
  }, [])

  const choose = (chosen: PathedFile[]): void => {
    setFiles(chosen)
    const top = chosen[0]?.path.split('/')
    if (name === '' && top !== undefined && top.length > 1) setName(top[0] ?? '')
  }
  const submit = async (): Promise<void> => {
    setProblem(undefined)
    try {
      let project: Project
      if (uploads) {
        setProgress(0)
        project = await upload<Project>(
          '/api/projects/upload',
          { name: name.trim() },
          files,
          setProgress,
          sending.current.signal,
        )
        await client.invalidateQueries({ queryKey: projectKeys.list })
      } else project = await create.mutateAsync({ name: name.trim() })
      onClose()
      navigate(paths.project(project.id))
    } catch (error) {
      if (sending.current.signal.aborted) return
      setProblem(errorText(error))
      setProgress(null)
    }
  }
  const ready = name.trim() !== '' && (!uploads || files.length > 0) && progress === null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t(uploads ? 'projects.upload' : 'projects.new')}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" disabled={!ready} onClick={() => void submit()}>
            {t(uploads ? 'projects.uploadNow' : 'projects.create')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) void submit()
        }}
      >
        {uploads && <DropZone files={files} onFiles={choose} />}
        <TextField
          label={t('projects.name')}
          value={name}
          maxLength={255}
          onChange={(event) => setName(event.target.value)}
        />
        {problem !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {problem}
          </p>
        )}
        {progress !== null && (
          <div>
            <ProgressBar label={t('projects.uploading')} part={progress} />
            <p className="mt-1.5 text-note text-muted">
              {t(progress < 1 ? 'projects.uploading' : 'projects.storing')}
            </p>
          </div>
        )}
      </form>
    </Dialog>
  )
}

function DropZone({
  files,
  onFiles,
}: {
  files: readonly PathedFile[]
  onFiles: (files: PathedFile[]) => void
}) {
  const { t, i18n } = useTranslation()
  const picker = useRef<HTMLInputElement>(null)
  const { isOver, handlers } = useDropTarget(onFiles)
  const size = files.reduce((sum, { file }) => sum + file.size, 0)
  return (
    <>
      <input
        ref={(element) => {
          picker.current = element
          // React has no property for choosing folders.
          element?.setAttribute('webkitdirectory', '')
        }}
        type="file"
        multiple
        hidden
        onChange={(event) => onFiles(filesOfInput(event.target.files))}
      />
      <button
        type="button"
        className={classNames(
          'flex flex-col items-center gap-2 rounded-2xl border-2 border-dashed px-4 py-8 text-sm transition-colors',
          isOver ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-hover/50',
        )}
        onClick={() => picker.current?.click()}
        {...handlers}
      >
        <FolderUp size={22} aria-hidden className="text-muted" />
        {files.length === 0 ? (
          t('projects.drop')
        ) : (
          <span className="font-medium">
            {t('projects.chosen', { count: files.length, size: fileSize(size, i18n.language) })}
          </span>
        )}
      </button>
    </>
  )
}
