// The palette: commands, recent conversations and the search over everything, all reachable by keyboard.
import { Search } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { useSearchHits } from '../../lib/api/search.ts'
import { isComposing } from '../../lib/composing.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Failed, Spinner } from '../../ui/feedback.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { byConversation, pathOf } from './group-hits.ts'
import { HitView } from './hit-view.tsx'
import { type Entry, useEntries } from './use-entries.ts'

/** The kinds of texts that the search can be limited to. */
const TYPES = ['all', 'message', 'title', 'file', 'document'] as const
type HitType = (typeof TYPES)[number]

/** The text once typing pauses, so that not every letter is a request. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 180)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

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
  const q = useSettled(text.trim())
  const [type, setType] = useState<HitType>('all')
  const search = useSearchHits(q, type === 'all' ? null : type)
  const groups = byConversation(
    q === '' ? [] : (search.data?.pages.flatMap(({ items }) => items) ?? []),
  )
  const hits = groups.flatMap((group) => group.hits.map(({ hit }) => hit))
  const found = useEntries(
    text.trim(),
    useCallback((path) => navigate(path), [navigate]),
  )
  // Whoever looks for one kind of text wants no command.
  const entries = type === 'all' ? found : []
  const count = entries.length + hits.length
  const current = Math.min(selected, count - 1)
  const indexed = search.data?.pages[0]?.indexed ?? 1
  const optionId = (index: number): string => `${listId}-${index}`

  const choose = (index: number): void => {
    const entry = entries[index]
    const hit = hits[index - entries.length]
    if (entry === undefined && hit === undefined) return
    onOpenChange(false)
    if (hit !== undefined) navigate(pathOf(hit))
    // Only when the dialog has given the focus back, so that what the command opens can have it.
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
    <Dialog open={open} onOpenChange={onOpenChange} title={t('search.title')} width="normal">
      <SearchField
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
      {indexed < 1 && (
        <p role="status" className="mt-2 text-xs text-soft">
          {t('search.indexing', { percent: Math.floor(indexed * 100) })}
        </p>
      )}
      <div className="mt-3 min-h-24">
        {q !== '' && search.isPending && (
          <div className="flex justify-center p-6">
            <Spinner />
          </div>
        )}
        {search.isError && (
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
        {search.hasNextPage && hits.length > 0 && (
          <div className="flex justify-center">
            <Button
              disabled={search.isFetchingNextPage}
              onClick={() => void search.fetchNextPage()}
            >
              {t('search.more')}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

/** `active`: the id of the option that Enter chooses; undefined when there is none. */
function SearchField({
  text,
  listId,
  active,
  onText,
  onKeyDown,
}: {
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
    <div className="-mx-1 mt-2 overflow-x-auto px-1">
      <Segmented
        label={t('inspector.filter')}
        value={type}
        options={TYPES.map((value) => ({ value, label: labels[value] }))}
        onChange={onType}
      />
    </div>
  )
}

/** What was found, by conversation. `before`: how many entries precede the hits. */
function Hits({
  groups,
  before,
  current,
  optionId,
  onChoose,
}: {
  groups: ReturnType<typeof byConversation>
  before: number
  current: number
  optionId: (index: number) => string
  onChoose: (index: number) => void
}) {
  return groups.map((group) => (
    // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
    <div key={group.id} role="group" aria-label={group.title} className="mb-3">
      {group.hits.some(({ hit }) => hit.type !== 'title') && (
        <div aria-hidden className="truncate px-2.5 pb-1 text-xs font-medium text-muted">
          {group.title}
        </div>
      )}
      {group.hits.map(({ hit, index: place }) => {
        const index = before + place
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
          <div
            key={`${hit.message_id ?? ''} ${hit.step_id ?? ''} ${index}`}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={classNames(
              'cursor-pointer rounded-lg px-2.5 py-2 text-sm wrap-anywhere',
              index === current ? 'bg-hover' : 'hover:bg-hover/60',
            )}
            onClick={() => onChoose(index)}
          >
            <HitView hit={hit} />
          </div>
        )
      })}
    </div>
  ))
}

/** Commands and conversations by name, before the hits. */
function Entries({
  entries,
  current,
  optionId,
  onChoose,
}: {
  entries: readonly Entry[]
  current: number
  optionId: (index: number) => string
  onChoose: (index: number) => void
}) {
  const { t } = useTranslation()
  return (['conversation', 'command'] as const).map((kind) => {
    const shown = entries.flatMap((entry, index) => (entry.kind === kind ? [{ entry, index }] : []))
    if (shown.length === 0) return null
    const label = t(`palette.${kind}`)
    return (
      // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
      <div key={kind} role="group" aria-label={label} className="mb-3">
        <div aria-hidden className="px-2.5 pb-1 text-xs font-medium text-muted">
          {label}
        </div>
        {shown.map(({ entry: { key, icon: Icon, text, keys }, index }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
          <div
            key={key}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={classNames(
              'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm pointer-coarse:min-h-11',
              index === current ? 'bg-hover' : 'hover:bg-hover/60',
            )}
            onClick={() => onChoose(index)}
          >
            <Icon size={15} aria-hidden className="shrink-0 text-muted" />
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {text}
            </span>
            {keys !== '' && (
              <kbd className="pointer-coarse:hidden shrink-0 font-sans text-xs text-muted">
                {keys}
              </kbd>
            )}
          </div>
        ))}
      </div>
    )
  })
}
