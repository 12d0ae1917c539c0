// Where a changed conversation goes in the cached lists, and how the list is grouped.
import { describe, expect, test } from 'vitest'
import { Conversation } from '../../server/protocol/conversations/conversation.ts'
import {
  entriesOf,
  groupConversations,
  layoutOf,
  moved,
} from '../../web/src/features/conversations/list-entries.ts'
import {
  type ConversationPages,
  type ListFilters,
  placeConversation,
} from '../../web/src/lib/api/conversation-lists.ts'

const conversation = (id: string, minute: number, changes: object = {}): Conversation =>
  Conversation.parse({
    id,
    title: `Talk ${id}`,
    model: null,
    project_id: null,
    project_name: null,
    scratch_project_id: null,
    system_prompt: null,
    temperature: null,
    max_tokens: null,
    thinking_enabled: false,
    approval: null,
    approval_deadline: null,
    disabled_mcp_servers: [],
    pinned: false,
    pin_position: null,
    archived: false,
    leaf_id: null,
    message_count: 2,
    active_run_id: null,
    active_run_status: null,
    beside_run_id: null,
    created_at: '2026-03-01T00:00:00.000Z',
    updated_at: `2026-03-05T10:${String(minute).padStart(2, '0')}:00.000Z`,
    deleted_at: null,
    temporary: false,
    tags: [],
    ...changes,
  })

const pagesOf = (pages: Conversation[][], isWhole = false): ConversationPages => ({
  pages: pages.map((items, at) => {
    const more = !isWhole || at < pages.length - 1
    return { items, has_more: more, next_cursor: more ? `after ${at}` : null }
  }),
  pageParams: pages.map(() => null),
})

const ALL: ListFilters = { q: '', view: 'current', tag: null, pinned: false, projectId: null }
const idsOf = (pages: ConversationPages) =>
  pages.pages.map(({ items }) => items.map(({ id }) => String(id)))

describe('a changed conversation in a cached list', () => {
  const loaded = () =>
    pagesOf([
      [conversation('a', 50), conversation('b', 40)],
      [conversation('c', 30), conversation('d', 20)],
    ])

  test('moves to the position of its activity, even from beyond the loaded pages, and other pages stay unchanged', () => {
    const before = loaded()
    const after = placeConversation(before, ALL, 'd', conversation('d', 45))
    expect(idsOf(after)).toEqual([['a', 'd', 'b'], ['c']])
    expect(idsOf(placeConversation(before, ALL, 'x', conversation('x', 59)))).toEqual([
      ['x', 'a', 'b'],
      ['c', 'd'],
    ])
    const renamed = placeConversation(before, ALL, 'd', conversation('d', 20, { title: 'New' }))
    expect(renamed.pages[0]).toBe(before.pages[0])
    expect(renamed.pages[1]?.items[1]?.title).toBe('New')
  })

  test('is left out if it belongs beyond the loaded pages, and is last when everything is loaded', () => {
    expect(idsOf(placeConversation(loaded(), ALL, 'x', conversation('x', 1)))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    const whole = pagesOf([[conversation('a', 50)]], true)
    expect(idsOf(placeConversation(whole, ALL, 'x', conversation('x', 1)))).toEqual([['a', 'x']])
    expect(idsOf(placeConversation(pagesOf([[]], true), ALL, 'x', conversation('x', 1)))).toEqual([
      ['x'],
    ])
  })

  test('leaves a list whose filters it no longer matches, and a removed one leaves every list', () => {
    const before = loaded()
    for (const changes of [
      { archived: true },
      { pinned: true },
      { temporary: true },
      { deleted_at: '2026-03-05T11:00:00.000Z' },
    ])
      expect(idsOf(placeConversation(before, ALL, 'b', conversation('b', 55, changes)))).toEqual([
        ['a'],
        ['c', 'd'],
      ])
    expect(idsOf(placeConversation(before, ALL, 'b', null))).toEqual([['a'], ['c', 'd']])
    expect(placeConversation(before, ALL, 'nowhere', null)).toBe(before)
  })

  test('is found by part of its title as the server finds it, by tag and by project', () => {
    const empty = pagesOf([[]], true)
    const one = conversation('x', 1, { title: 'Ｔokyo ÄRGER', tags: ['旅行'], project_id: 'p' })
    const isIn = (filters: Partial<ListFilters>): boolean =>
      idsOf(placeConversation(empty, { ...ALL, ...filters }, 'x', one))[0]?.length === 1
    expect(isIn({ q: 'tokyo ä' })).toBe(true)
    expect(isIn({ q: 'kyoto' })).toBe(false)
    expect(isIn({ tag: '旅行' })).toBe(true)
    expect(isIn({ tag: 'work' })).toBe(false)
    expect(isIn({ pinned: null, projectId: 'p' })).toBe(true)
    expect(isIn({ projectId: 'other' })).toBe(false)
    expect(isIn({ view: 'archived' })).toBe(false)
  })
})

describe('the groups of the list', () => {
  test('are the pinned conversations in their order, then days, and each conversation is in exactly one', () => {
    const now = new Date(2026, 2, 5, 12)
    const at = (day: number) => ({ updated_at: new Date(2026, 2, day, 9).toISOString() })
    const pinned = pagesOf([
      [
        conversation('second', 1, { pinned: true, pin_position: 1 }),
        conversation('new', 1, { pinned: true }),
        conversation('first', 1, { pinned: true, pin_position: 0 }),
      ],
    ])
    const others = pagesOf([
      [conversation('new', 0, at(5)), conversation('today', 0, at(5))],
      [
        conversation('also', 0, at(5)),
        conversation('day', 0, at(4)),
        conversation('old', 0, at(-60)),
      ],
    ])
    const groups = groupConversations(pinned, others, now)
    expect(groups.map(({ key, items }) => [key, items.map(({ id }) => String(id))])).toEqual([
      ['pinned', ['new', 'first', 'second']],
      ['today', ['today', 'also']],
      ['yesterday', ['day']],
      ['older', ['old']],
    ])
    const { sizes, starts, indexes } = layoutOf(entriesOf(groups), 36)
    expect(sizes).toHaveLength(11)
    expect(indexes.get('today')).toBe(5)
    expect(starts.get('today')).toBe(sizes.slice(0, 5).reduce((sum, size) => sum + size, 0))
  })

  test('a pinned conversation moves to a position, but not past the ends', () => {
    expect(moved(['a', 'b', 'c'], 'a', 2)).toEqual(['b', 'c', 'a'])
    expect(moved(['a', 'b', 'c'], 'c', 0)).toEqual(['c', 'a', 'b'])
    expect(moved(['a', 'b', 'c'], 'b', 9)).toEqual(['a', 'c', 'b'])
  })
})
