// The list of an answer's sources: cited ones first, then the others.
import { BookOpen, ChevronRight, Globe } from 'lucide-react'
import { useId, useState } from 'react'
import type { Source } from '../../../../../server/protocol/sources/source.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { type SourceText, useSourceText } from './source-text.ts'

/** How many sites are named next to the count while the list is folded. */
const MAX_NAMED_SITES = 3
/** How many entries each section of the list shows initially. */
const ENTRIES_SHOWN = 8

/** Shown below the answer, folded initially. Renders nothing without sources. */
export function SourcesPanel({
  sources,
  cited,
  onOpen,
}: {
  sources: readonly Source[]
  /** The numbers of the sources that the text cites. */
  cited: ReadonlySet<number>
  /** Opens a passage; null if its document cannot be opened here. */
  onOpen: ((source: Source) => void) | null
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const describe = useSourceText()
  const listId = useId()
  if (sources.length === 0) return null
  const places = new Set(sources.map((source) => describe(source).origin))
  const named = [...places].slice(0, MAX_NAMED_SITES).join(', ')
  const rest = places.size - MAX_NAMED_SITES
  const citedOnes = sources.filter(({ number }) => cited.has(number))
  const others = sources.filter(({ number }) => !cited.has(number))
  return (
    <section
      aria-label={t('documents.sources')}
      className="rounded-xl border border-line bg-surface"
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? listId : undefined}
        className="flex w-full min-w-0 items-center gap-2 rounded-xl px-3 py-2 text-start text-note hover:bg-hover/60"
        onClick={() => setOpen(!open)}
      >
        <BookOpen size={14} aria-hidden className="shrink-0 text-accent" />
        <span className="shrink-0 font-medium">
          {t('results.sources', { count: sources.length })}
        </span>
        <span className="min-w-0 flex-1 truncate text-muted">
          {named}
          {rest > 0 && ` +${rest}`}
        </span>
        <ChevronRight
          size={14}
          aria-hidden
          className={classNames(
            'shrink-0 text-muted transition-transform',
            open && 'rotate-90 rtl:-rotate-90',
          )}
        />
      </button>
      {open && (
        <div id={listId} className="flex flex-col gap-3 px-3 pt-1 pb-3">
          {citedOnes.length > 0 && (
            <Part
              title={others.length > 0 ? t('results.cited') : undefined}
              sources={citedOnes}
              onOpen={onOpen}
            />
          )}
          {others.length > 0 && (
            <Part
              title={citedOnes.length > 0 ? t('results.alsoFound') : undefined}
              sources={others}
              onOpen={onOpen}
            />
          )}
        </div>
      )}
    </section>
  )
}

function Part({
  title,
  sources,
  onOpen,
}: {
  title: string | undefined
  sources: readonly Source[]
  onOpen: ((source: Source) => void) | null
}) {
  const { t } = useTranslation()
  const [all, setAll] = useState(false)
  const describe = useSourceText()
  const shown = all ? sources : sources.slice(0, ENTRIES_SHOWN)
  const hidden = sources.length - shown.length
  return (
    <div>
      {title !== undefined && <p className="mb-1 text-xs font-medium text-muted">{title}</p>}
      <ol aria-label={title ?? t('documents.sources')} className="flex flex-col gap-1">
        {shown.map((source) => (
          <Entry key={source.number} source={source} text={describe(source)} onOpen={onOpen} />
        ))}
      </ol>
      {hidden > 0 && (
        <button
          type="button"
          className="mt-1.5 text-note text-accent underline underline-offset-3"
          onClick={() => setAll(true)}
        >
          {t('steps.moreResults', { count: hidden })}
        </button>
      )}
    </div>
  )
}

function Entry({
  source,
  text,
  onOpen,
}: {
  source: Source
  text: SourceText
  onOpen: ((source: Source) => void) | null
}) {
  const Icon = source.kind === 'web' ? Globe : BookOpen
  const name =
    'min-w-0 truncate text-start font-medium text-accent underline decoration-accent/40 underline-offset-3 hover:decoration-current'
  return (
    <li value={source.number} className="flex min-w-0 gap-2 text-note">
      <span className="w-5 shrink-0 text-end leading-5 text-muted tabular-nums pointer-coarse:leading-11">
        {source.number}
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex min-h-5 min-w-0 items-center gap-2 pointer-coarse:min-h-11">
          {source.kind === 'web' ? (
            <a
              href={source.url}
              target="_blank"
              rel="noopener noreferrer nofollow"
              title={text.title}
              dir="auto"
              className={name}
            >
              {text.title}
            </a>
          ) : onOpen === null ? (
            <span className="min-w-0 truncate font-medium">{text.title}</span>
          ) : (
            <button type="button" className={name} onClick={() => onOpen(source)}>
              {text.title}
            </button>
          )}
          {text.place !== '' && (
            <span className="flex max-w-[45%] shrink-0 items-center gap-1 text-xs text-muted">
              <Icon size={12} aria-hidden className="shrink-0" />
              <span className="truncate">{text.place}</span>
            </span>
          )}
        </p>
        {source.kind === 'web' && source.text !== undefined && (
          <p dir="auto" className="line-clamp-2 text-soft [overflow-wrap:anywhere]">
            {source.text}
          </p>
        )}
      </div>
    </li>
  )
}
