// The list of conversations: grouped by day, filtered by title, loading more on scroll, with archive and trash.

import { hashKey, useQuery } from '@tanstack/react-query'
import { Archive, MessageSquare, Trash2 } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import {
  type ConversationPages,
  type ListView,
  listKeys,
} from '../../lib/api/conversation-lists.ts'
import { conversationQuery, useConversations } from '../../lib/api/conversations.ts'
import { useNextPage } from '../../lib/http/next-page.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../lib/newest.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Spinner } from '../../ui/states/feedback.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'
import { ListControls } from './list-controls.tsx'
import { type ConversationGroup, groupConversations } from './list-entries.ts'
import type { RowsHandle } from './use-row-keys.ts'
import { useSelection } from './use-selection.ts'

// Loads in parallel with the list, so that the rest of the first screen does not wait for it.
const ConversationRows = lazyPart(() =>
  import('./conversation-rows.tsx').then((module) => module.ConversationRows),
)
const EmptyTrash = lazyPart(() => import('./empty-trash.tsx').then((module) => module.EmptyTrash))
const SelectionBar = lazyPart(() =>
  import('./selection-bar.tsx').then((module) => module.SelectionBar),
)

const EMPTY_ICONS = { current: MessageSquare, archived: Archive, trash: Trash2 }

/** Loads one page after the other while `isWanted`; after a failure, the next one only once the list has changed. */
function useEachPage(
  isWanted: boolean,
  loaded: ConversationPages | undefined,
  loadNext: () => Promise<void>,
): void {
  const count = loaded?.pages.length ?? 0
  useEffect(() => {
    if (isWanted && count > 0) void loadNext()
  }, [isWanted, count, loadNext])
}

/** All pages of a list, or those that have loaded if one fails; never those of the filters that were set before. */
async function loadAll(
  query: ReturnType<typeof useConversations>,
): Promise<ConversationPages | undefined> {
  let { data, hasNextPage, isPlaceholderData, isError } = query
  while ((hasNextPage || isPlaceholderData) && !isError)
    ({ data, hasNextPage, isPlaceholderData, isError } = await query.fetchNextPage({
      cancelRefetch: false,
    }))
  return data
}

/** The groups of the list, by day; pinned conversations first. */
function useGroups(q: string, view: ListView, tag: string | null) {
  const filters = { q, view, tag, projectId: null }
  const others = { ...filters, pinned: view === 'trash' ? null : false }
  const list = useConversations(others)
  const loadNext = useNextPage(listKeys.one(others), list.fetchNextPage)
  // A separate query, so that pinned conversations stay visible however many newer ones there are.
  const allPinned = { ...filters, pinned: true }
  const pinned = useConversations(allPinned)
  const loadNextPinned = useNextPage(listKeys.one(allPinned), pinned.fetchNextPage)
  useEachPage(pinned.hasNextPage, pinned.data, loadNextPinned)
  // The list of the previous view is shown until this one has loaded.
  const isTrash = view === 'trash'
  const shown =
    (list.data?.pages[0]?.items[0]?.deleted_at != null) === isTrash ? list.data : undefined
  const groups = useMemo(
    () => groupConversations(isTrash ? undefined : pinned.data, shown, new Date()),
    [pinned.data, shown, isTrash],
  )
  const latest = useNewest({ list, pinned, isTrash, key: hashKey(listKeys.one(others)) })
  /** The ids of all conversations in the list. Loads the remaining pages first, unless one fails. */
  const allIds = async (): Promise<string[]> => {
    for (;;) {
      const asked = latest.current
      const [first, rest] = await Promise.all([
        asked.isTrash ? undefined : loadAll(asked.pinned),
        loadAll(asked.list),
      ])
      // Filters may have changed meanwhile: those that were typed take effect a moment later.
      if (asked.key === latest.current.key)
        return idsOf(groupConversations(first, rest, new Date()))
    }
  }
  return { list, loadNext, pinned, groups, allIds }
}

const idsOf = (groups: readonly ConversationGroup[]): string[] =>
  groups.flatMap(({ items }) => items.map(({ id }) => id))

/** How many pages are loaded to find the open conversation; each page is a request. */
const MAX_SEARCHED_PAGES = 10

/** Whether the open conversation is in the current list below the loaded pages, within `MAX_SEARCHED_PAGES`. */
function useIsBelow(activeId: string | null, loaded: ConversationPages | undefined): boolean {
  const { data: active } = useQuery({ ...conversationQuery(activeId ?? ''), enabled: false })
  const pages = loaded?.pages ?? []
  const last = pages.at(-1)?.items.at(-1)
  if (active === undefined || last === undefined) return false
  return (
    pages.length < MAX_SEARCHED_PAGES &&
    !(active.archived || active.pinned || active.temporary) &&
    active.updated_at < last.updated_at
  )
}

/** The list in the sidebar. `activeId` is the open conversation; null for none. */
export function ConversationList({
  activeId,
  onOpened,
}: {
  activeId: string | null
  /** Called when the user has chosen something; a phone then closes its drawer. */
  onOpened: () => void
}) {
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [view, setView] = useState<ListView>('current')
  const [tag, setTag] = useState<string | null>(null)
  const q = useDeferredValue(search.trim())
  const { list, loadNext, pinned, groups, allIds } = useGroups(q, view, tag)
  const isActiveBelow = useIsBelow(activeId, list.data)
  useEachPage(isActiveBelow && list.hasNextPage, list.data, loadNext)
  const rows = useRef<RowsHandle>(null)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const all = useMemo(() => idsOf(groups), [groups])
  const selection = useSelection(all)
  const { selected } = selection
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape ends the selection wherever the focus is in the list
    <div
      className="flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => {
        const { key, target, currentTarget } = event
        if (key !== 'Escape' || event.defaultPrevented || selected === null || search !== '') return
        // React also delivers events from menus and dialogs, which are elsewhere in the document.
        if (!(target instanceof Node) || !currentTarget.contains(target)) return
        event.preventDefault()
        selection.end()
      }}
    >
      <ListControls
        search={search}
        view={view}
        tag={tag}
        onSearch={setSearch}
        onView={(next) => {
          setView(next)
          selection.forget()
        }}
        onTag={setTag}
        onSelect={selection.start}
        onDown={() => rows.current?.focusFirst()}
      />
      {view === 'trash' && q === '' && tag === null && selected === null && groups.length > 0 && (
        <PartBoundary fallback={null}>
          <EmptyTrash allIds={allIds} />
        </PartBoundary>
      )}
      <nav
        ref={setScroller}
        aria-label={t('conversations.title')}
        className="relative min-h-0 flex-1 overflow-y-auto bg-sunken px-2 pb-3 [overflow-anchor:none]"
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
            icon={EMPTY_ICONS[view]}
            title={t(
              q !== '' || tag !== null
                ? 'conversations.nothingFound'
                : `conversations.nothing.${view}`,
            )}
          />
        )}
        <PartBoundary fallback={null}>
          <ConversationRows
            ref={rows}
            groups={groups}
            scroller={scroller}
            activeId={activeId}
            selected={selected}
            isWhole={!list.hasNextPage}
            onToggle={selection.toggle}
            onOpened={onOpened}
            onNearEnd={() => {
              if (list.hasNextPage) void loadNext()
            }}
          />
        </PartBoundary>
      </nav>
      {selected !== null && (
        <PartBoundary fallback={null}>
          <SelectionBar
            view={view}
            selected={selected}
            isAll={!list.hasNextPage && all.length > 0 && all.every((id) => selected.has(id))}
            activeId={activeId}
            onSelectAll={async (selectsAll) => selection.set(selectsAll ? await allIds() : [])}
            onClose={selection.end}
          />
        </PartBoundary>
      )}
    </div>
  )
}
