// How far a document has been read, or why it could not be, and the encoding that it is read in.
import { type ProjectDocument, useReadDocumentAs } from '../../lib/api/documents.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { EncodingChoice } from '../../ui/controls/encoding-choice.tsx'
import { Spinner } from '../../ui/states/feedback.tsx'

/** One line. */
export function DocumentState({
  document,
}: {
  document: Pick<ProjectDocument, 'status' | 'error' | 'reason' | 'params' | 'passages'>
}) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const { status, passages: count, reason } = document
  if (status === 'failed')
    return (
      // The server's texts follow a colon elsewhere.
      <span className="inline-block text-bad first-letter:uppercase">
        {refusalText({ ...document, message: document.error ?? t('documents.failed') })}
      </span>
    )
  return (
    <span className="flex min-w-0 items-center gap-1 text-muted">
      {status === 'pending' && <Spinner size={12} />}
      <span>{t(status === 'pending' ? 'documents.reading' : 'documents.passages', { count })}</span>
      {reason !== null && (
        <span className="min-w-0 truncate">
          {`· ${refusalText({ ...document, message: document.error ?? '' })}`}
        </span>
      )}
    </span>
  )
}

/** The choice of another encoding for a document that has one. */
export function DocumentEncoding({
  projectId,
  document: { id, status, encoding },
}: {
  projectId: string
  document: Pick<ProjectDocument, 'id' | 'status' | 'encoding'>
}) {
  const readAs = useReadDocumentAs(projectId)
  return (
    encoding !== null && (
      <EncodingChoice
        value={encoding}
        disabled={status === 'pending' || readAs.isPending}
        onChange={(next) => readAs.mutate({ id, encoding: next })}
      />
    )
  )
}
