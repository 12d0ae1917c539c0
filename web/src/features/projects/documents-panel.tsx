// The knowledge base of a project: add documents, see their progress, view and remove them.
import { useQueryClient } from '@tanstack/react-query'
import { BookOpen, FileUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { MAX_DOCUMENTS_PER_UPLOAD } from '../../../../server/protocol/projects/upload-limits.ts'
import {
  documentsKey,
  type ProjectDocument,
  useDeleteDocument,
  useDocuments,
  useReadDocumentAs,
} from '../../lib/api/documents.ts'
import { fileSize } from '../../lib/format.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { EncodingChoice } from '../../ui/controls/encoding-choice.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { PassageDialog } from '../../ui/overlays/passage-dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading, Spinner } from '../../ui/states/feedback.tsx'
import { filesOfInput, type PathedFile, upload } from './api/upload.ts'
import { Uploading } from './uploading.tsx'
import { useDropTarget } from './use-drop-target.ts'

const ACCEPTED_FILES = '.txt,.md,.markdown,.pdf,.docx,.xlsx,.pptx,.html,.htm,.csv'

/** A passage, given by document id and position, with words to highlight; null opens the beginning. */
export type OpenPassage = { document: string; position: number | null; marks: readonly string[] }

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
  const sending = useRef<AbortController | null>(null)
  const [open, setOpen] = useState(initial)
  const add = async (files: PathedFile[]): Promise<void> => {
    if (files.length === 0) return
    if (sending.current !== null) return notify(t('files.busy'), 'error')
    const controller = new AbortController()
    const { signal } = controller
    sending.current = controller
    setProgress(0)
    try {
      for (let start = 0; start < files.length; start += MAX_DOCUMENTS_PER_UPLOAD) {
        const some = files.slice(start, start + MAX_DOCUMENTS_PER_UPLOAD)
        const onProgress = (part: number): void =>
          setProgress((start + part * some.length) / files.length)
        await upload(`/api/projects/${projectId}/documents`, {}, some, onProgress, signal)
      }
    } catch (error) {
      if (!signal.aborted) reportError(error)
    }
    sending.current = null
    setProgress(null)
    await client.invalidateQueries({ queryKey: documentsKey(projectId) })
  }
  const drop = useDropTarget((files) => void add(files))
  const items = documents.data?.pages.flatMap((page) => page.items)
  return (
    <section
      aria-label={t('projects.tab.documents')}
      className={classNames(
        'mx-auto min-h-full max-w-2xl px-4 py-4',
        drop.isOver ? 'bg-accent-soft' : '',
      )}
      {...drop.handlers}
    >
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
          {t('documents.add')}
        </Button>
      </div>
      {progress !== null && <Uploading part={progress} onAbort={() => sending.current?.abort()} />}
      {documents.isPending && <Loading />}
      {documents.isLoadingError && (
        <Failed message={errorText(documents.error)} onRetry={() => void documents.refetch()} />
      )}
      {items?.length === 0 && (
        <Empty icon={BookOpen} title={t('documents.empty')} text={t('documents.emptyText')} />
      )}
      <ul ref={moveFocusOnRemoval} className="divide-y divide-line">
        {items?.map((document) => (
          <Row
            key={document.id}
            projectId={projectId}
            document={document}
            onOpen={() => setOpen({ document: document.id, position: null, marks: [] })}
          />
        ))}
      </ul>
      <ShowMore list={documents} queryKey={documentsKey(projectId)} size="small" />
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
  const readAs = useReadDocumentAs(projectId)
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
        <span className="flex items-center gap-1 text-note text-muted">
          {document.status === 'pending' && <Spinner size={12} />}
          {document.status === 'failed' ? (
            // The server's texts follow a colon elsewhere.
            <span className="inline-block text-bad first-letter:uppercase">
              {refusalText({ ...document, message: document.error ?? t('documents.failed') })}
            </span>
          ) : (
            <>
              <bdi>{fileSize(document.size, i18n.language)}</bdi>
              <span aria-hidden>·</span>
              <span>
                {t(document.status === 'pending' ? 'documents.reading' : 'documents.passages', {
                  count: document.passages,
                })}
              </span>
              {document.reason !== null && (
                <span className="min-w-0 truncate">
                  {`· ${refusalText({ ...document, message: document.error ?? '' })}`}
                </span>
              )}
            </>
          )}
        </span>
      </button>
      {document.encoding !== null && (
        <EncodingChoice
          value={document.encoding}
          disabled={document.status === 'pending' || readAs.isPending}
          onChange={(encoding) => readAs.mutate({ id: document.id, encoding })}
        />
      )}
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
