// The palette: commands, recent conversations and the search, all usable by keyboard.
import { Search } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { searchKey, useSearchHits } from '../../lib/api/search.ts'
import { isComposing } from '../../lib/browser/composing.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Spinner } from '../../ui/states/feedback.tsx'
import { byConversation, pathOf } from './group-hits.ts'
import { Entries, Hits } from './search-results.tsx'
import { useEntries } from './use-entries.ts'

/** The kinds of hits that the search can be limited to. */
const TYPES = ['all', 'message', 'title', 'file', 'document'] as const
type HitType = (typeof TYPES)[number]

/** The text once typing pauses, so that not every letter causes a request. */
function usePausedText(text: string): string {
  const [pausedText, setPausedText] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPausedText(text), 180)
    return () => clearTimeout(timer)
  }, [text])
  return pausedText
}

/** Opened with Ctrl+K or from the sidebar. Searches only once something has been typed. */
export function SearchDialog({
  open,
  onOpenChange,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const listId = useId()
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const q = usePausedText(text.trim())
  const [type, setType] = useState<HitType>('all')
  const kind = type === 'all' ? null : type
  const search = useSearchHits(q, kind)
  const groups = byConversation(
    q === '' ? [] : (search.data?.pages.flatMap(({ items }) => items) ?? []),
  )
  const hits = groups.flatMap((group) => group.hits.map(({ hit }) => hit))
  const found = useEntries(
    text.trim(),
    q,
    useCallback((path) => navigate(path), [navigate]),
  )
  // A search for one kind of text has no commands.
  const entries = type === 'all' ? found : []
  const count = entries.length + hits.length
  const current = Math.min(selected, count - 1)
  const indexed = search.data?.pages[0]?.indexed ?? 1
  const fieldId = `${listId}-field`
  const optionId = (index: number): string => `${listId}-${index}`

  const choose = (index: number): void => {
    const entry = entries[index]
    const hit = hits[index - entries.length]
    if (entry === undefined && hit === undefined) return
    onOpenChange(false)
    if (hit !== undefined) navigate(pathOf(hit))
    // After the dialog has returned the focus, so that the command's view can take it.
    else setTimeout(() => entry?.choose(), 0)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, the keys belong to it.
    if (isComposing(event.nativeEvent)) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && count > 0) {
      event.preventDefault()
      const next = (current + step + count) % count
      setSelected(next)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choose(current)
    }
  }
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('search.title')} width="palette">
      <div className="sticky top-0 z-10 bg-paper pb-2">
        <SearchField
          id={fieldId}
          text={text}
          listId={listId}
          active={count > 0 ? optionId(current) : undefined}
          onText={(next) => {
            setText(next)
            setSelected(0)
          }}
          onKeyDown={onKeyDown}
        />
        <p className="mt-1.5 text-xs text-muted">{t('search.hint')}</p>
        <TypeChoice
          type={type}
          onType={(next) => {
            setType(next)
            setSelected(0)
          }}
        />
      </div>
      {indexed < 1 && (
        <p role="status" className="mt-2 text-xs text-soft">
          {t('search.indexing', { percent: Math.floor(indexed * 100) })}
        </p>
      )}
      <div className="mt-1">
        {search.isError && !search.isFetchNextPageError && (
          <Failed message={errorText(search.error)} onRetry={() => void search.refetch()} />
        )}
        {q !== '' && search.isSuccess && count === 0 && (
          <p role="status" className="p-6 text-center text-sm text-muted">
            {t('search.nothing')}
          </p>
        )}
        <div id={listId} role="listbox" aria-label={t('search.results')}>
          <Entries entries={entries} current={current} optionId={optionId} onChoose={choose} />
          <Hits
            groups={groups}
            before={entries.length}
            current={current}
            optionId={optionId}
            onChoose={choose}
          />
        </div>
        {/* Below the commands, so that these do not move. */}
        {q !== '' && search.isPending && (
          <div className="flex justify-center p-6">
            <Spinner />
          </div>
        )}
        {hits.length > 0 && (
          <ShowMore
            list={search}
            queryKey={searchKey(q, kind)}
            // The arrow keys choose among the hits from there.
            onLoad={() => document.getElementById(fieldId)?.focus()}
          >
            {t('search.more')}
          </ShowMore>
        )}
      </div>
    </Dialog>
  )
}

/** `active` is the id of the option that Enter chooses; undefined if there is none. */
function SearchField({
  id,
  text,
  listId,
  active,
  onText,
  onKeyDown,
}: {
  id: string
  text: string
  listId: string
  active: string | undefined
  onText: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}) {
  const { t } = useTranslation()
  return (
    <label className="relative mt-1 block">
      <Search
        size={15}
        aria-hidden
        className="pointer-events-none absolute top-1/2 start-3 -translate-y-1/2 text-muted"
      />
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog is opened to type into this field
        autoFocus
        id={id}
        type="search"
        role="combobox"
        aria-expanded={active !== undefined}
        aria-controls={listId}
        aria-activedescendant={active}
        aria-label={t('search.title')}
        placeholder={t('search.placeholder')}
        value={text}
        maxLength={500}
        className="h-10 w-full rounded-lg border border-line-strong bg-surface pe-3 ps-9 text-sm max-sm:text-base"
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  )
}

function TypeChoice({ type, onType }: { type: HitType; onType: (type: HitType) => void }) {
  const { t } = useTranslation()
  const labels: Record<HitType, string> = {
    all: t('inspector.filters.all'),
    message: t('chat.messages'),
    title: t('conversations.title'),
    file: t('composer.attachments'),
    document: t('search.documents'),
  }
  return (
    <div className="mt-2">
      <Segmented
        label={t('inspector.filter')}
        value={type}
        options={TYPES.map((value) => ({ value, label: labels[value] }))}
        onChange={onType}
      />
    </div>
  )
}
