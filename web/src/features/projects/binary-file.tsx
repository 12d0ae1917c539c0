// A file that is not text: images are shown, and every file can be downloaded, renamed and deleted.
import { ArrowLeft, Download, FileX2, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { errorText, reportError } from '../../ui/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/feedback.tsx'
import { downloadFile, useDeleteFile, useFileBytes } from './api/files.ts'

/** The types that the server sends as images and that a browser draws without running anything. */
export const isPicture = (path: string): boolean => /\.(?:png|jpe?g|gif|webp)$/i.test(path)

export function BinaryFile({
  projectId,
  path,
  picture = false,
  tooLarge = false,
  onMoved,
  onClose,
}: {
  projectId: string
  path: string
  picture?: boolean
  /** It may be text, but it is too large to edit here. */
  tooLarge?: boolean
  onMoved: (path: string | null) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const remove = useDeleteFile(projectId)
  const [deleting, setDeleting] = useState(false)
  const download = (): void => void downloadFile(projectId, path).catch(reportError)
  return (
    <section aria-label={path} className="flex min-w-0 flex-1 flex-col">
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line px-2">
        <IconButton icon={ArrowLeft} label={t('files.tree')} size="small" onClick={onClose} />
        <p className="min-w-0 flex-1 truncate font-mono text-[13px]" title={path}>
          {path}
        </p>
        <IconButton icon={Download} label={t('files.download')} size="small" onClick={download} />
        <IconButton
          icon={Trash2}
          label={t('common.delete')}
          size="small"
          onClick={() => setDeleting(true)}
        />
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        {picture ? (
          <Picture projectId={projectId} path={path} />
        ) : (
          <Empty
            icon={FileX2}
            title={t(tooLarge ? 'files.tooLarge' : 'files.binary')}
            text={t('files.binaryText')}
          >
            <Button icon={Download} onClick={download}>
              {t('files.download')}
            </Button>
          </Empty>
        )}
      </div>
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('files.deleteTitle', { path })}
        text={t('files.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() => remove.mutate(path, { onSuccess: () => onMoved(null) })}
      />
    </section>
  )
}

function Picture({ projectId, path }: { projectId: string; path: string }) {
  const { t } = useTranslation()
  const file = useFileBytes(projectId, path)
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (file.data === undefined) return
    const made = URL.createObjectURL(file.data)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [file.data])
  if (file.isError)
    return <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
  if (address === null) return <Loading />
  return (
    <div className="grid min-h-full place-items-center p-4">
      <img
        src={address}
        alt={t('files.image', { name: path })}
        className="max-h-full max-w-full rounded-lg border border-line bg-white"
      />
    </div>
  )
}
