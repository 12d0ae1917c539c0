// The list of conversations: grouped by day, filtered by title, loading more on scroll; the archive and the trash.
import { Archive, ListChecks, ListFilter, MessageSquare, Search, Trash2, X } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Conversation } from '../../../../server/protocol/conversation.ts'
import { type ListView, useConversations, useTags } from '../../lib/api/conversations.ts'
import { type DayGroup, dayGroup } from '../../lib/format.ts'
import { IconButton } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Empty, Failed, Spinner } from '../../ui/feedback.tsx'
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { ConversationRow } from './conversation-row.tsx'
import { SelectableRow } from './selectable-row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { TrashRow } from './trash-row.tsx'

type Group = { key: 'pinned' | 'trash' | DayGroup; items: Conversation[] }

/** No tag: tags are never empty. */
const ALL_TAGS = ''
const SHOWN_TAGS = 12
const VIEWS = ['current', 'archived', 'trash'] as const satisfies readonly ListView[]
const emptyIcons = { current: MessageSquare, archived: Archive, trash: Trash2 }

const group = (conversations: readonly Conversation[], now: Date): Group[] => {
  const groups: Group[] = []
  for (const conversation of conversations) {
    const key =
      conversation.deleted_at !== null
        ? 'trash'
        : conversation.pinned
          ? 'pinned'
          : dayGroup(conversation.updated_at, now)
    const known = groups.find((one) => one.key === key)
    if (known === undefined) groups.push({ key, items: [conversation] })
    else known.items.push(conversation)
  }
  return groups.toSorted((a, b) => Number(b.key === 'pinned') - Number(a.key === 'pinned'))
}

const itemsOf = (data: ReturnType<typeof useConversations>['data']): Conversation[] =>
  data?.pages.flatMap(({ items }) => items) ?? []

/** A conversation that is just being pinned is in both lists until they are refetched. */
const withoutTwins = (conversations: readonly Conversation[]): Conversation[] => [
  ...new Map(conversations.map((one) => [one.id, one])).values(),
]

/** Calls `onNear` when the end of the list comes into view. */
function EndOfList({ onNear }: { onNear: () => void }) {
  const mark = useRef<HTMLDivElement>(null)
  const call = useRef(onNear)
  call.current = onNear
  useEffect(() => {
    const element = mark.current
    if (element === null) return
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) call.current()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={mark} className="flex justify-center py-3">
      <Spinner />
    </div>
  )
}

export function ConversationList({
  activeId,
  onOpened,
}: {
  activeId: string | null
  /** Something was chosen; a phone closes its drawer then. */
  onOpened: () => void
}) {
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [view, setView] = useState<ListView>('current')
  /** The selected conversations; null while none are being selected. */
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null)
  const [tag, setTag] = useState<string | null>(null)
  const tags = useTags()
  const q = useDeferredValue(search.trim())
  const list = useConversations({ q, view, tag, pinned: false })
  // A query of its own, so that pinned conversations stay visible however many others are newer.
  const pinned = useConversations({ q, view, tag, pinned: true })
  const { hasNextPage: morePinned, isFetchingNextPage: fetchingPinned, fetchNextPage } = pinned
  useEffect(() => {
    if (morePinned && !fetchingPinned) void fetchNextPage()
  }, [morePinned, fetchingPinned, fetchNextPage])
  const groups = useMemo(
    () =>
      group(
        withoutTwins([
          ...(view === 'trash' ? [] : itemsOf(pinned.data)),
          // The previous view's list is shown until this one's has come.
          ...itemsOf(list.data).filter((one) => (view === 'trash') === (one.deleted_at !== null)),
        ]),
        new Date(),
      ),
    [pinned.data, list.data, view],
  )
  const toggle = (id: string): void => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 px-3 pb-2">
        <label className="relative min-w-0 flex-1">
          <Search
            size={14}
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted"
          />
          <input
            id="conversation-search"
            type="search"
            value={search}
            maxLength={200}
            aria-label={t('conversations.filter')}
            placeholder={t('conversations.filter')}
            className="h-8.5 w-full rounded-lg border border-transparent bg-hover/70 pr-7 pl-8 text-[13.5px] outline-offset-0 transition-colors hover:bg-hover focus-visible:bg-surface [&::-webkit-search-cancel-button]:hidden"
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setSearch('')
            }}
          />
          {search !== '' && (
            <button
              type="button"
              aria-label={t('common.clear')}
              className="absolute top-1/2 right-1.5 grid size-6 -translate-y-1/2 place-items-center rounded-md text-muted hover:text-ink"
              onClick={() => setSearch('')}
            >
              <X size={13} aria-hidden />
            </button>
          )}
        </label>
        <Menu
          align="end"
          label={t('conversations.view')}
          trigger={
            <IconButton
              icon={view === 'trash' ? Trash2 : view === 'archived' ? Archive : ListFilter}
              label={t('conversations.view')}
              size="small"
              className={view === 'current' && tag === null ? '' : 'text-accent!'}
            />
          }
        >
          <MenuChoices
            value={view}
            choices={VIEWS.map((value) => ({ value, label: t(`conversations.views.${value}`) }))}
            onChoose={(value) => {
              setView(VIEWS.find((one) => one === value) ?? 'current')
              setSelected(null)
            }}
          />
          {(tags.data?.length ?? 0) > 0 && (
            <>
              <MenuSeparator />
              <MenuHeading>{t('conversations.tags')}</MenuHeading>
              <MenuChoices
                value={tag ?? ALL_TAGS}
                choices={[
                  { value: ALL_TAGS, label: t('conversations.allTags') },
                  ...(tags.data ?? [])
                    .slice(0, SHOWN_TAGS)
                    .map((one) => ({ value: one.tag, label: one.tag })),
                ]}
                onChoose={(value) => setTag(value === ALL_TAGS ? null : value)}
              />
            </>
          )}
          <MenuSeparator />
          <MenuItem icon={ListChecks} onSelect={() => setSelected(new Set())}>
            {t('conversations.select')}
          </MenuItem>
        </Menu>
      </div>
      {tag !== null && (
        <button
          type="button"
          className="mx-3 mb-2 flex h-7 items-center gap-1.5 rounded-md bg-accent-soft px-2 text-[13px] text-accent pointer-coarse:h-11"
          onClick={() => setTag(null)}
        >
          <span dir="auto" className="min-w-0 flex-1 truncate text-start">
            {t('conversations.tagged', { tag })}
          </span>
          <X size={13} aria-label={t('common.clear')} />
        </button>
      )}
      <nav
        aria-label={t('conversations.title')}
        className="min-h-0 flex-1 overflow-y-auto px-2 pb-3"
      >
        {list.isPending && (
          <div className="flex justify-center p-6">
            <Spinner />
          </div>
        )}
        {list.isLoadingError && (
          <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
        )}
        {list.isSuccess && (view === 'trash' || pinned.isSuccess) && groups.length === 0 && (
          <Empty
            icon={emptyIcons[view]}
            title={t(
              q !== '' || tag !== null
                ? 'conversations.nothingFound'
                : `conversations.nothing.${view}`,
            )}
          />
        )}
        {groups.map(({ key, items }) => (
          <section
            key={key}
            aria-label={t(`conversations.group.${key}`)}
            className="mt-3 first:mt-0"
          >
            <h2 className="px-2.5 py-1 text-xs font-medium text-muted">
              {t(`conversations.group.${key}`)}
            </h2>
            <ul>
              {items.map((conversation) =>
                selected !== null ? (
                  <SelectableRow
                    key={conversation.id}
                    conversation={conversation}
                    selected={selected.has(conversation.id)}
                    onToggle={() => toggle(conversation.id)}
                  />
                ) : conversation.deleted_at !== null ? (
                  <TrashRow key={conversation.id} conversation={conversation} />
                ) : (
                  <ConversationRow
                    key={conversation.id}
                    conversation={conversation}
                    active={conversation.id === activeId}
                    onOpened={onOpened}
                  />
                ),
              )}
            </ul>
          </section>
        ))}
        {list.hasNextPage && (
          <EndOfList
            onNear={() => {
              if (!list.isFetchingNextPage) void list.fetchNextPage()
            }}
          />
        )}
      </nav>
      {selected !== null && (
        <SelectionBar
          view={view}
          selected={[...selected]}
          all={groups.flatMap(({ items }) => items.map(({ id }) => id))}
          activeId={activeId}
          onSelect={(ids) => setSelected(new Set(ids))}
          onClose={() => setSelected(null)}
        />
      )}
    </div>
  )
}
