// What the conversation list shows, from the top down: conversations in groups, each below its heading.
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import type { ConversationPages } from '../../lib/api/conversation-lists.ts'
import { type DayGroup, startsOfGroups } from '../../lib/format.ts'

/** Which group of the list: by day, the pinned ones, or the trash. */
export type GroupKey = 'pinned' | 'trash' | DayGroup

/** Conversations below one heading, in the order shown. */
export type ConversationGroup = { key: GroupKey; items: Conversation[] }

const itemsOf = (pages: ConversationPages | undefined): Conversation[] =>
  pages?.pages.flatMap(({ items }) => items) ?? []

/** Those that nobody has placed yet come first, newest activity first; the others in the order in which they were put. */
const inPinOrder = (a: Conversation, b: Conversation): number =>
  (a.pin_position ?? -1) - (b.pin_position ?? -1)

/** The groups of a list. Both inputs are sorted by activity; the pinned ones get their own order. */
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
    // While it is being pinned, a list that is just being read may still have it.
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

/** One line of the list; `at` counts from 0 within its group. */
export type ListEntry =
  | { kind: 'heading'; group: ConversationGroup }
  | { kind: 'row'; group: ConversationGroup; at: number; conversation: Conversation }

/** The groups as one flat list, each heading before its rows. */
export const entriesOf = (groups: readonly ConversationGroup[]): ListEntry[] =>
  groups.flatMap((group): ListEntry[] => [
    { kind: 'heading', group },
    ...group.items.map((conversation, at): ListEntry => ({ kind: 'row', group, at, conversation })),
  ])

/** Distinguishes the entries of a list. */
export const keyOf = (entry: ListEntry | undefined): string => {
  if (entry === undefined) return ''
  return entry.kind === 'heading' ? `#${entry.group.key}` : entry.conversation.id
}

const HEADING_SHARE = 0.72
/** Above each heading but the first. */
const GAP_PX = 12

/** Where every entry stands, so that only those in view have to be drawn. */
export type ListLayout = {
  /** Heights in pixels, by index. */
  sizes: readonly number[]
  /** Where each entry begins, in pixels from the top, by key. */
  starts: ReadonlyMap<string, number>
  indexes: ReadonlyMap<string, number>
  /** The height of the whole list in pixels. */
  height: number
}

/** `rowHeight` in pixels, which depends on the density and on touch. */
export function layoutOf(entries: readonly ListEntry[], rowHeight: number): ListLayout {
  const sizes: number[] = []
  const starts = new Map<string, number>()
  const indexes = new Map<string, number>()
  let top = 0
  for (const [index, entry] of entries.entries()) {
    const gap = index === 0 ? 0 : GAP_PX
    const size = entry.kind === 'row' ? rowHeight : Math.round(rowHeight * HEADING_SHARE) + gap
    const key = keyOf(entry)
    sizes.push(size)
    starts.set(key, top)
    indexes.set(key, index)
    top += size
  }
  return { sizes, starts, indexes, height: top }
}

/** The ids with one of them moved to the place of another. */
export function moved(ids: readonly string[], id: string, to: number): string[] {
  const rest = ids.filter((one) => one !== id)
  return rest.toSpliced(Math.max(0, Math.min(to, rest.length)), 0, id)
}
