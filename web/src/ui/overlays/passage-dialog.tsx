// A dialog with a document's text, from the beginning or around the passage that a citation names.

import { passagesKey, usePassages } from '../../lib/api/documents.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { classNames } from '../class-names.ts'
import { Button } from '../controls/button.tsx'
import { ShowMore } from '../controls/show-more.tsx'
import { errorText } from '../states/error-text.ts'
import { Failed, Loading } from '../states/feedback.tsx'
import { Dialog } from './dialog.tsx'

/** Shows the passage at index `position` of the document among the ones around it; for null, the first passages. */
export function PassageDialog({
  projectId,
  documentId,
  position,
  marks = [],
  onClose,
}: {
  projectId: string
  documentId: string
  position: number | null
  /** Texts to highlight in the passage, such as search hits. */
  marks?: readonly string[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const start = Math.max(0, (position ?? 0) - 1)
  const passages = usePassages(projectId, documentId, start)
  const pages = passages.data?.pages ?? []
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="wide"
      title={pages[0]?.document.name ?? t('documents.passage')}
    >
      {passages.isPending && <Loading />}
      {passages.isLoadingError && (
        <Failed message={errorText(passages.error)} onRetry={() => void passages.refetch()} />
      )}
      {passages.hasPreviousPage && (
        <div className="flex flex-col items-center gap-2 pb-3">
          {passages.isFetchPreviousPageError && (
            <p role="alert" className="text-sm text-bad">
              {errorText(passages.error)}
            </p>
          )}
          <Button
            size="small"
            disabled={passages.isFetchingPreviousPage}
            onClick={() => void passages.fetchPreviousPage()}
          >
            {t('documents.earlier')}
          </Button>
        </div>
      )}
      <div className="flex flex-col gap-4">
        {pages
          .flatMap(({ items }) => items)
          .map((passage) => (
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
              <p className="text-[0.9375rem] leading-relaxed whitespace-pre-wrap">
                {passage.position === position ? (
                  <Marked text={passage.text} marks={marks} />
                ) : (
                  passage.text
                )}
              </p>
            </section>
          ))}
      </div>
      <ShowMore list={passages} queryKey={passagesKey(projectId, documentId, start)} size="small" />
    </Dialog>
  )
}

/** The text with all occurrences of the marks highlighted, regardless of case. */
function Marked({ text, marks }: { text: string; marks: readonly string[] }) {
  const nonEmpty = marks.filter((mark) => mark.trim() !== '')
  if (nonEmpty.length === 0) return text
  // Marks come from snippets, in which white space is collapsed.
  const pattern = nonEmpty
    .map((mark) => mark.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
    .join('|')
  return atPlaces(text.split(new RegExp(`(${pattern})`, 'giu'))).map(({ place, item: piece }) =>
    place % 2 === 1 ? (
      <mark key={place} className="rounded-xs bg-warn-soft text-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  )
}
