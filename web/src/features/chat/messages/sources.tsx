// The passages that an answer is based on; each opens at its place in the document.
import { BookOpen } from 'lucide-react'
import { lazy, Suspense, useContext, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Step } from '../../../../../server/protocol/step.ts'
import { fieldsOf, listIn, numberIn, textIn } from '../../../lib/read-json.ts'
import { ConversationContext } from '../conversation-context.ts'

const PassageDialog = lazy(() =>
  import('../../../ui/passage-dialog.tsx').then((module) => ({ default: module.PassageDialog })),
)

type Source = {
  key: string
  document: string
  documentId: string
  position: number
  heading: string | undefined
  page: number | undefined
}

const MAX_SOURCES = 12

/** Every passage once, in the order in which it was found. */
const sourcesOf = (steps: readonly Step[]): Source[] => {
  const found = new Map<string, Source>()
  for (const step of steps)
    if (step?.type === 'tool_result')
      for (const citation of listIn(step.artifact?.citations)) {
        const fields = fieldsOf(citation)
        const documentId = textIn(fields.document_id)
        if (documentId === undefined) continue
        const position = numberIn(fields.position) ?? 0
        const key = `${documentId}:${position}`
        if (!found.has(key))
          found.set(key, {
            key,
            document: textIn(fields.document) ?? '',
            documentId,
            position,
            heading: textIn(fields.heading),
            page: numberIn(fields.page),
          })
      }
  return [...found.values()].slice(0, MAX_SOURCES)
}

export function Sources({ steps }: { steps: readonly Step[] }) {
  const { t } = useTranslation()
  const { projectId } = useContext(ConversationContext)
  const sources = useMemo(() => sourcesOf(steps), [steps])
  const [open, setOpen] = useState<Source | null>(null)
  if (sources.length === 0 || projectId === null) return null
  return (
    <section aria-label={t('documents.sources')}>
      <ol className="flex flex-wrap gap-1.5">
        {sources.map((source, index) => (
          <li key={source.key}>
            <button
              type="button"
              className="inline-flex max-w-72 items-center gap-1.5 rounded-full border border-line px-2.5 py-1 text-[13px] text-soft hover:border-line-strong hover:bg-hover"
              onClick={() => setOpen(source)}
            >
              <BookOpen size={13} aria-hidden className="shrink-0 text-accent" />
              <span className="text-muted tabular-nums">{index + 1}</span>
              <span className="truncate">
                {[
                  source.document,
                  source.heading,
                  source.page === undefined
                    ? undefined
                    : t('documents.page', { page: source.page }),
                ]
                  .filter((part) => part !== undefined && part !== '')
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {open !== null && (
        <Suspense fallback={null}>
          <PassageDialog
            projectId={projectId}
            documentId={open.documentId}
            position={open.position}
            onClose={() => setOpen(null)}
          />
        </Suspense>
      )}
    </section>
  )
}
