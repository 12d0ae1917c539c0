// A document's text at one passage: what a citation opens.
import { useTranslation } from 'react-i18next'
import { usePassages } from '../lib/api/documents.ts'
import { classNames } from './class-names.ts'
import { Dialog } from './dialog.tsx'
import { errorText } from './error-text.ts'
import { Failed, Loading } from './feedback.tsx'

export function PassageDialog({
  projectId,
  documentId,
  position,
  onClose,
}: {
  projectId: string
  documentId: string
  position: number
  onClose: () => void
}) {
  const { t } = useTranslation()
  const passages = usePassages(projectId, documentId, Math.max(0, position - 1))
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="wide"
      title={passages.data?.document.name ?? t('documents.passage')}
    >
      {passages.isPending && <Loading />}
      {passages.isError && <Failed message={errorText(passages.error)} />}
      <div className="flex flex-col gap-4">
        {passages.data?.items.map((passage) => (
          <section
            key={passage.position}
            className={classNames(
              'rounded-xl border p-4',
              passage.position === position ? 'border-accent bg-accent-soft' : 'border-line',
            )}
          >
            <p className="mb-1 text-xs text-muted">
              {[
                passage.heading,
                passage.page === null ? null : t('documents.page', { page: passage.page }),
              ]
                .filter((part) => part !== null)
                .join(' · ')}
            </p>
            <p className="text-[15px] leading-relaxed whitespace-pre-wrap">{passage.text}</p>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
