// The knowledge base of a project: add documents, see their progress, view and remove them.
import { useQueryClient } from '@tanstack/react-query'
import { BookOpen, FileUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import {
  documentsKey,
  type ProjectDocument,
  useDeleteDocument,
  useDocuments,
} from '../../lib/api/documents.ts'
import { fileSize } from '../../lib/format.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { PassageDialog } from '../../ui/overlays/passage-dialog.tsx'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading, Spinner } from '../../ui/states/feedback.tsx'
import { filesOfInput, type PathedFile, upload } from './api/upload.ts'

const ACCEPTED_FILES = '.txt,.md,.markdown,.pdf,.docx,.html,.htm,.csv'

/** A passage, given by document id and position, with words to highlight. */
export type OpenPassage = { document: string; position: number; marks: readonly string[] }

/** A tab of the project. */
export function DocumentsPanel({
  projectId,
  initial,
}: {
  projectId: string
  /** The passage to open initially. */
  initial: OpenPassage | null
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const documents = useDocuments(projectId)
  const picker = useRef<HTMLInputElement>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const [open, setOpen] = useState(initial)
  const add = async (files: PathedFile[]): Promise<void> => {
    if (files.length === 0) return
    setProgress(0)
    try {
      await upload(`/api/projects/${projectId}/documents`, {}, files, setProgress)
    } catch (error) {
      reportError(error)
    }
    setProgress(null)
    await client.invalidateQueries({ queryKey: documentsKey(projectId) })
  }
  return (
    <section className="mx-auto max-w-2xl px-4 py-4">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-sm text-note text-muted">{t('documents.text')}</p>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={ACCEPTED_FILES}
          onChange={(event) => {
            void add(filesOfInput(event.target.files))
            event.target.value = ''
          }}
        />
        <Button
          size="small"
          icon={FileUp}
          disabled={progress !== null}
          onClick={() => picker.current?.click()}
        >
          {progress === null
            ? t('documents.add')
            : t('documents.adding', { percent: Math.round(progress * 100) })}
        </Button>
      </div>
      {documents.isPending && <Loading />}
      {documents.isError && (
        <Failed message={errorText(documents.error)} onRetry={() => void documents.refetch()} />
      )}
      {documents.data?.length === 0 && (
        <Empty icon={BookOpen} title={t('documents.empty')} text={t('documents.emptyText')} />
      )}
      <ul ref={moveFocusOnRemoval} className="divide-y divide-line">
        {documents.data?.map((document) => (
          <Row
            key={document.id}
            projectId={projectId}
            document={document}
            onOpen={() => setOpen({ document: document.id, position: 0, marks: [] })}
          />
        ))}
      </ul>
      {open !== null && (
        <PassageDialog
          projectId={projectId}
          documentId={open.document}
          position={open.position}
          marks={open.marks}
          onClose={() => setOpen(null)}
        />
      )}
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
  const { t, i18n } = useTranslation()
  const refusalText = useRefusalText()
  const remove = useDeleteDocument(projectId)
  const [isConfirming, setIsConfirming] = useState(false)
  return (
    <li className="flex items-center gap-3 py-2.5">
      <button
        type="button"
        className="min-w-0 flex-1 rounded-md text-start hover:underline disabled:no-underline"
        disabled={document.status !== 'ready'}
        onClick={onOpen}
      >
        <span className="block truncate text-sm font-medium">{document.name}</span>
        <span className="flex items-center gap-1.5 text-note text-muted">
          {document.status === 'pending' && <Spinner size={12} />}
          {document.status === 'failed' ? (
            <span className="text-bad">
              {refusalText({ ...document, message: document.error ?? t('documents.failed') })}
            </span>
          ) : (
            <>
              <bdi>{fileSize(document.size, i18n.language)}</bdi> ·{' '}
              {t(document.status === 'pending' ? 'documents.reading' : 'documents.passages', {
                count: document.passages,
              })}
            </>
          )}
        </span>
      </button>
      <IconButton
        icon={Trash2}
        label={t('documents.remove', { name: document.name })}
        size="small"
        onClick={() => setIsConfirming(true)}
      />
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
