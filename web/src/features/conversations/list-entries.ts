// The entries of the conversation list from top to bottom: groups of conversations, each below its heading.
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import type { ConversationPages } from '../../lib/api/conversation-lists.ts'
import { type DayGroup, startsOfGroups } from '../../lib/format.ts'

/** A group of the list: a day group, the pinned ones, or the trash. */
export type GroupKey = 'pinned' | 'trash' | DayGroup

/** The conversations below one heading, in display order. */
export type ConversationGroup = { key: GroupKey; items: Conversation[] }

const itemsOf = (pages: ConversationPages | undefined): Conversation[] =>
  pages?.pages.flatMap(({ items }) => items) ?? []

/** Conversations without a position come first, newest activity first; then the others by position. */
const inPinOrder = (a: Conversation, b: Conversation): number =>
  (a.pin_position ?? -1) - (b.pin_position ?? -1)

/** Groups the lists. Both inputs are sorted by activity; pinned conversations get their own order. */
export function groupConversations(
  pinned: ConversationPages | undefined,
  others: ConversationPages | undefined,
  now: Date,
): ConversationGroup[] {
  const top = itemsOf(pinned).toSorted(inPinOrder)
  const groups: ConversationGroup[] = top.length === 0 ? [] : [{ key: 'pinned', items: top }]
  const starts = startsOfGroups(now)
  const shown = new Set(top.map(({ id }) => id))
  for (const conversation of itemsOf(others)) {
    // While a conversation is being pinned, a list that is just loading may still contain it.
    if (shown.has(conversation.id)) continue
    shown.add(conversation.id)
    const key =
      conversation.deleted_at !== null
        ? 'trash'
        : (starts.find(({ from }) => conversation.updated_at >= from)?.group ?? 'older')
    const last = groups.at(-1)
    if (last?.key === key) last.items.push(conversation)
    else groups.push({ key, items: [conversation] })
  }
  return groups
}

/** One line of the list; `at` is its index in the group. */
export type ListEntry =
  | { kind: 'heading'; group: ConversationGroup }
  | { kind: 'row'; group: ConversationGroup; at: number; conversation: Conversation }

/** Flattens the groups into one list, each heading before its rows. */
export const entriesOf = (groups: readonly ConversationGroup[]): ListEntry[] =>
  groups.flatMap((group): ListEntry[] => [
    { kind: 'heading', group },
    ...group.items.map((conversation, at): ListEntry => ({ kind: 'row', group, at, conversation })),
  ])

/** A unique key of an entry. */
export const keyOf = (entry: ListEntry | undefined): string => {
  if (entry === undefined) return ''
  return entry.kind === 'heading' ? `#${entry.group.key}` : entry.conversation.id
}

const HEADING_SHARE = 0.72
/** The gap above each heading except the first. */
const GAP_PIXELS = 12

/** The positions of all entries, from which the entries in view follow. */
export type ListLayout = {
  /** The heights in pixels, by index. */
  sizes: readonly number[]
  /** The offset of each entry from the top in pixels, by key. */
  starts: ReadonlyMap<string, number>
  indexes: ReadonlyMap<string, number>
  /** The height of the whole list in pixels. */
  height: number
}

/** Computes the layout. `rowHeight` is in pixels and depends on density and touch. */
export function layoutOf(entries: readonly ListEntry[], rowHeight: number): ListLayout {
  const sizes: number[] = []
  const starts = new Map<string, number>()
  const indexes = new Map<string, number>()
  let top = 0
  for (const [index, entry] of entries.entries()) {
    const gap = index === 0 ? 0 : GAP_PIXELS
    const size = entry.kind === 'row' ? rowHeight : Math.round(rowHeight * HEADING_SHARE) + gap
    const key = keyOf(entry)
    sizes.push(size)
    starts.set(key, top)
    indexes.set(key, index)
    top += size
  }
  return { sizes, starts, indexes, height: top }
}

/** The ids with one of them moved to an index. */
export function moved(ids: readonly string[], id: string, to: number): string[] {
  const rest = ids.filter((one) => one !== id)
  return rest.toSpliced(Math.max(0, Math.min(to, rest.length)), 0, id)
}
