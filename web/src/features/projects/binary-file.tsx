// A file that is not text: shows images, PDF and Office files; every file can be downloaded and deleted.
import { ArrowLeft, Download, ExternalLink, FileX2, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { ZoomableImage } from '../../ui/overlays/zoomable-image.tsx'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'
import { downloadFile, useDeleteFile, useFileBytes, useIsGone } from './api/files.ts'
import { Searchable } from './searchable.tsx'

const DocumentPreview = lazyPart(() =>
  import('./document-preview.tsx').then((module) => module.DocumentPreview),
)

/** How a file that is not text is shown. */
type Shown = 'picture' | 'pdf' | 'document'

const SHOWN: readonly (readonly [RegExp, Shown])[] = [
  [/\.(?:png|jpe?g|gif|webp)$/i, 'picture'],
  [/\.pdf$/i, 'pdf'],
  [/\.(?:doc[xm]|xls[xm]|ppt[xm]|ppsx)$/i, 'document'],
]

/**
 * How a file that is not text is shown; null for other files. Browsers show pictures and PDF files without running anything; of
 * documents, the server extracts the text.
 */
export const shownAs = (path: string): Shown | null =>
  SHOWN.find(([names]) => names.test(path))?.[1] ?? null

/** `shown` is how the file is shown; null for not at all. `tooLarge`: the file is a text that is too long for the editor. */
export function BinaryFile({
  projectId,
  path,
  shown = null,
  tooLarge = false,
  onMoved,
  onClose,
}: {
  projectId: string
  path: string
  shown?: Shown | null
  /** Whether it may be text but is too large to edit here. */
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
        <p className="min-w-0 flex-1 truncate font-mono text-note" title={path}>
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
      {(shown === 'pdf' || shown === 'document') && (
        <Searchable projectId={projectId} path={path} />
      )}
      <div className="min-h-0 flex-1 overflow-auto">
        {shown === 'picture' ? (
          <Picture projectId={projectId} path={path} />
        ) : shown === 'pdf' ? (
          <Pdf projectId={projectId} path={path} />
        ) : shown === 'document' ? (
          <PartBoundary fallback={<Loading />}>
            <DocumentPreview projectId={projectId} path={path} />
          </PartBoundary>
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

/** An object URL of the file, revoked on unmount; null until the file has loaded. */
function useAddress(projectId: string, path: string, type?: string) {
  const file = useFileBytes(projectId, path)
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (file.data === undefined) return
    const created = URL.createObjectURL(
      type === undefined ? file.data : new Blob([file.data], { type }),
    )
    setAddress(created)
    return () => URL.revokeObjectURL(created)
  }, [file.data, type])
  return { file, address, isGone: useIsGone(projectId, file.error) }
}

function Picture({ projectId, path }: { projectId: string; path: string }) {
  const { t } = useTranslation()
  const { file, address, isGone } = useAddress(projectId, path)
  if (file.isLoadingError || isGone)
    return <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
  if (address === null) return <Loading />
  return (
    <div className="grid min-h-full place-items-center p-4">
      <ZoomableImage
        source={address}
        name={t('files.image', { name: path })}
        fileName={path.split('/').at(-1) ?? path}
        className="max-h-full max-w-full rounded-lg border border-line bg-white"
      />
    </div>
  )
}

/** A PDF in the browser's viewer. Fixes the type of the blob, so that another kind of file never runs as a web page. */
function Pdf({ projectId, path }: { projectId: string; path: string }) {
  const { t } = useTranslation()
  const { file, address, isGone } = useAddress(projectId, path, 'application/pdf')
  if (file.isLoadingError || isGone)
    return <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
  if (address === null) return <Loading />
  const open = (
    <a
      href={address}
      target="_blank"
      rel="noopener"
      className="inline-flex items-center gap-1.5 text-note text-accent underline underline-offset-3"
    >
      <ExternalLink size={14} aria-hidden />
      {t('files.openTab')}
    </a>
  )
  if (!navigator.pdfViewerEnabled)
    return (
      <div className="flex h-full flex-col">
        <p className="flex flex-wrap justify-between gap-x-3 border-b border-line px-5 py-2 text-note text-muted">
          {t('files.noPdf')}
          {open}
        </p>
        <div className="min-h-0 flex-1">
          <PartBoundary fallback={<Loading />}>
            <DocumentPreview projectId={projectId} path={path} />
          </PartBoundary>
        </div>
      </div>
    )
  return (
    <div className="flex h-full flex-col">
      <iframe
        src={`${address}#navpanes=0`}
        title={path}
        className="min-h-0 w-full flex-1 bg-white"
      />
      <p className="flex justify-end border-t border-line px-3 py-2">{open}</p>
    </div>
  )
}
