// The rows of the conversation list, virtualized: only those in view are in the document. Pinned ones can be reordered.

import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import {
  type ReactNode,
  type Ref,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../lib/newest.ts'
import { classNames } from '../../ui/class-names.ts'
import { Spinner } from '../../ui/states/feedback.tsx'
import { VIEW_BUTTON_ID } from './list-controls.tsx'
import {
  type ConversationGroup,
  entriesOf,
  keyOf,
  type ListEntry,
  layoutOf,
} from './list-entries.ts'
import { RowContent } from './row-content.tsx'
import { useOpenRowInView } from './use-open-row-in-view.ts'
import { type PinOrder, usePinOrder } from './use-pin-order.ts'
import { usePreservedScroll } from './use-preserved-scroll.ts'
import { useRowHeight } from './use-row-height.ts'
import { type RowsHandle, useRowKeys } from './use-row-keys.ts'

/** Rows that are rendered above and below those in view. */
const OVERSCAN_ROWS = 8
/** The next page loads when fewer rows than this remain below the view. */
const NEAR_END_ROWS = 40

type Placed = { entry: ListEntry; start: number; size: number }

/** The rendered rows by group, in order. */
function byGroup(placed: readonly Placed[]): [ConversationGroup, Placed[]][] {
  const groups = new Map<ConversationGroup, Placed[]>()
  for (const one of placed)
    groups.set(one.entry.group, [...(groups.get(one.entry.group) ?? []), one])
  return [...groups]
}

/** Absolute positions: the list has the height of all rows, but only a few are in the document. */
const placeOf = ({ start, size }: Placed) => ({
  height: size,
  transform: `translateY(${start}px)`,
})
const PLACED = 'absolute inset-x-0 top-0'

/** Calls `onNearEnd` when the end is near, and again after each page while it still is. */
function useNearEnd(isNear: boolean, count: number, onNearEnd: () => void): void {
  const latestHandler = useNewest(onNearEnd)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each page, while the end is still near
  useEffect(() => {
    if (isNear) latestHandler.current()
  }, [isNear, count])
}

function GroupHeading({ placed, group }: { placed: Placed; group: ConversationGroup }) {
  const { t } = useTranslation()
  return (
    <h2
      style={placeOf(placed)}
      className={classNames(PLACED, 'flex items-end px-2.5 pb-1 text-xs font-medium text-muted')}
    >
      {t(`conversations.group.${group.key}`)}
    </h2>
  )
}

/** The rendered rows of a group. `children` renders one of them. */
function RowGroup({
  group,
  placed,
  isWhole,
  order,
  isSortable,
  children,
}: {
  group: ConversationGroup
  placed: readonly Placed[]
  /** Whether all of its conversations have loaded. */
  isWhole: boolean
  order: PinOrder
  /** Whether its rows can be dragged. */
  isSortable: boolean
  children: (conversation: Conversation) => ReactNode
}) {
  const { t } = useTranslation()
  return (
    <section aria-label={t(`conversations.group.${group.key}`)}>
      {placed
        .filter(({ entry }) => entry.kind === 'heading')
        .map((heading) => (
          <GroupHeading key="heading" placed={heading} group={group} />
        ))}
      <ul>
        {placed.map((one) =>
          one.entry.kind === 'heading' ? null : (
            <li
              key={one.entry.conversation.id}
              data-row={one.entry.conversation.id}
              aria-posinset={one.entry.at + 1}
              aria-setsize={isWhole ? group.items.length : -1}
              style={placeOf(one)}
              className={classNames(
                PLACED,
                'group/row',
                order.target?.id === one.entry.conversation.id &&
                  (order.target.side === 'above'
                    ? 'shadow-[inset_0_2px_0_var(--accent)]'
                    : 'shadow-[inset_0_-2px_0_var(--accent)]'),
              )}
              {...(isSortable ? order.dragHandlers(one.entry.conversation.id) : {})}
            >
              {children(one.entry.conversation)}
            </li>
          ),
        )}
      </ul>
    </section>
  )
}

/** A range extractor that adds one more row to those in view. */
const withRow =
  (index: number | undefined) =>
  (range: Range): number[] => {
    const shown = defaultRangeExtractor(range)
    return index === undefined || shown.includes(index)
      ? shown
      : [...shown, index].toSorted((a, b) => a - b)
  }

/** The rendered rows and their positions: those in view, and the one at `stopIndex`. */
function usePlaced(
  entries: readonly ListEntry[],
  layout: ReturnType<typeof layoutOf>,
  {
    rowHeight,
    scroller,
    stopIndex,
  }: { rowHeight: number; scroller: HTMLElement | null; stopIndex: number | undefined },
) {
  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller,
    estimateSize: (index) => layout.sizes[index] ?? rowHeight,
    getItemKey: (index) => keyOf(entries[index]),
    overscan: OVERSCAN_ROWS,
    useFlushSync: false,
    // The tab stop stays in the document while it is out of view; otherwise Tab would not find it.
    rangeExtractor: withRow(stopIndex),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when the height changes
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight])
  const placed = virtualizer.getVirtualItems().flatMap(({ index }): Placed[] => {
    const entry = entries[index]
    if (entry === undefined) return []
    const start = layout.starts.get(keyOf(entry)) ?? 0
    return [{ entry, start, size: layout.sizes[index] ?? rowHeight }]
  })
  usePreservedScroll(
    layout.starts,
    placed.map(({ entry }) => keyOf(entry)),
    {
      offset: () => scroller?.scrollTop ?? 0,
      scrollTo: (offset) => {
        if (scroller !== null) scroller.scrollTop = offset
      },
    },
  )
  return { virtualizer, placed }
}

type ConversationRowsProps = {
  ref: Ref<RowsHandle>
  groups: readonly ConversationGroup[]
  scroller: HTMLElement | null
  activeId: string | null
  /** The selected conversations; null outside selection mode. */
  selected: ReadonlySet<string> | null
  /** Whether the loaded pages are the whole list. */
  isWhole: boolean
  /** With `isRange`, everything from the previously toggled conversation to this one. */
  onToggle: (id: string, isRange: boolean) => void
  onOpened: () => void
  onNearEnd: () => void
}

/** `ref` receives the handle that moves the focus into the list. */
export function ConversationRows({
  ref,
  groups,
  scroller,
  activeId,
  selected,
  isWhole,
  onToggle,
  onOpened,
  onNearEnd,
}: ConversationRowsProps) {
  const { t } = useTranslation()
  const probe = useRef<HTMLDivElement>(null)
  const rowHeight = useRowHeight(probe)
  const entries = useMemo(() => entriesOf(groups), [groups])
  const layout = useMemo(() => layoutOf(entries, rowHeight), [entries, rowHeight])
  /** The id of the row that had the focus last. */
  const [focused, setFocused] = useState<string | null>(null)
  // Tab reaches one row of the list; arrow keys move from there.
  const tabStop =
    [focused, activeId].find((id) => id !== null && layout.indexes.has(id)) ?? keyOf(entries[1])
  const stopIndex = layout.indexes.get(tabStop)
  const { virtualizer, placed } = usePlaced(entries, layout, { rowHeight, scroller, stopIndex })
  useOpenRowInView(activeId, layout, scroller)

  useNearEnd(
    !isWhole && entries.length - (virtualizer.range?.endIndex ?? 0) < NEAR_END_ROWS,
    entries.length,
    onNearEnd,
  )

  const pins = groups[0]?.key === 'pinned' ? groups[0].items.map(({ id }) => id) : []
  const order = usePinOrder(pins)
  const [announcement, setAnnouncement] = useState('')
  const { list, onKeyDown, noteFocus, refocus } = useRowKeys({
    ref,
    entries,
    indexes: layout.indexes,
    onFocus(id, index) {
      setFocused(id)
      virtualizer.scrollToIndex(index, { align: 'auto' })
    },
    onMove: (id, places) => movePin.current(id, places),
    onEmpty: () => document.getElementById(VIEW_BUTTON_ID)?.focus(),
  })
  const movePin = useNewest((id: string, places: number): void => {
    const to = order.moveBy(id, places)
    if (to === null) return
    setAnnouncement(t('conversations.pinPlaced', { place: to + 1, count: pins.length }))
    refocus(id)
  })
  const [onMove] = useState(() => (id: string, places: number) => movePin.current(id, places))

  return (
    <>
      <div ref={probe} aria-hidden className="invisible absolute h-9 w-0 pointer-coarse:h-11" />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows inside are what is operated */}
      <div
        ref={list}
        className="relative"
        style={{ height: layout.height }}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => {
          const id = target.closest<HTMLElement>('[data-row]')?.dataset.row
          if (id === undefined) return
          setFocused(id)
          noteFocus(id, target)
        }}
      >
        {byGroup(placed).map(([group, inGroup]) => (
          <RowGroup
            key={group.key}
            group={group}
            placed={inGroup}
            isWhole={isWhole || group !== groups.at(-1)}
            order={order}
            isSortable={group.key === 'pinned' && selected === null}
          >
            {(conversation) => (
              <RowContent
                conversation={conversation}
                isTabStop={conversation.id === tabStop}
                isActive={conversation.id === activeId}
                selected={selected}
                onToggle={onToggle}
                onOpened={onOpened}
                onMove={pins.length > 1 ? onMove : null}
              />
            )}
          </RowGroup>
        ))}
      </div>
      <span aria-live="polite" className="sr-only">
        {announcement}
      </span>
      {!isWhole && entries.length > 0 && (
        <div className="flex justify-center py-3">
          <Spinner />
        </div>
      )}
    </>
  )
}
