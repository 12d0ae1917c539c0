// The searchable documents of a project that are none of its files: below the tree, to read and to remove.
import { FileSearch, Trash2 } from 'lucide-react'
import { useState } from 'react'
import {
  documentsKey,
  type ProjectDocument,
  useDeleteDocument,
  useUploadedDocuments,
} from '../../lib/api/documents.ts'
import { useMayChange } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed } from '../../ui/states/feedback.tsx'
import { DocumentEncoding, DocumentState } from './document-state.tsx'

/** Shows nothing if there are none. `onOpen` receives the id of a document. */
export function UploadedDocuments({
  projectId,
  onOpen,
}: {
  projectId: string
  onOpen: (id: string) => void
}) {
  const { t } = useTranslation()
  const documents = useUploadedDocuments(projectId)
  if (documents.isLoadingError)
    return <Failed message={errorText(documents.error)} onRetry={() => void documents.refetch()} />
  const items = documents.data?.pages.flatMap((page) => page.items) ?? []
  if (items.length === 0) return null
  return (
    <section
      aria-label={t('documents.uploaded')}
      className="mx-1.5 mt-3 border-t border-line px-1 pt-2"
    >
      <p className="px-1 pb-1 text-xs text-muted">{t('documents.uploaded')}</p>
      <ul ref={moveFocusOnRemoval}>
        {items.map((document) => (
          <Row
            key={document.id}
            projectId={projectId}
            document={document}
            onOpen={() => onOpen(document.id)}
          />
        ))}
      </ul>
      <ShowMore list={documents} queryKey={documentsKey(projectId)} size="small" />
    </section>
  )
}

function Row({
  projectId,
  document,
  onOpen,
}: {
  projectId: string
  document: ProjectDocument
  onOpen: () => void
}) {
  const { t } = useTranslation()
  const mayChange = useMayChange(projectId)
  const remove = useDeleteDocument(projectId)
  const [isConfirming, setIsConfirming] = useState(false)
  return (
    <li className="flex min-h-8 items-center gap-1.5 rounded-md ps-1 hover:bg-hover/60 pointer-coarse:min-h-11">
      <FileSearch size={14} aria-hidden className="shrink-0 text-accent" />
      <button
        type="button"
        className="flex min-w-0 flex-1 flex-wrap content-center items-baseline gap-x-2 rounded-md py-1 text-start"
        disabled={document.status !== 'ready'}
        onClick={onOpen}
      >
        <span dir="auto" className="max-w-full truncate text-compact">
          {document.name}
        </span>
        <span className="min-w-0 text-note">
          <DocumentState document={document} />
        </span>
      </button>
      {mayChange && (
        <>
          <DocumentEncoding projectId={projectId} document={document} />
          <IconButton
            icon={Trash2}
            label={t('documents.remove', { name: document.name })}
            size="small"
            onClick={() => setIsConfirming(true)}
          />
        </>
      )}
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setIsConfirming}
        title={t('documents.removeTitle')}
        text={t('documents.removeText', { name: document.name })}
        confirm={t('documents.remove', { name: document.name })}
        onConfirm={() => remove.mutate(document.id)}
      />
    </li>
  )
}
