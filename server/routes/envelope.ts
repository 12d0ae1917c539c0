// The success envelope of all routes, and the form of pages in it.
import type { Page } from '../protocol/envelope.ts'

/** `{"code":0,"data":…}` */
export const success = <T>(data: T): { code: 0; data: T } => ({ code: 0, data })

/** The response to a deletion. */
export const deleted = { code: 0 as const, message: 'deleted' }

/** A page of a list on the wire. */
export const presentPage = <Row, Item>(
  { items, nextCursor, hasMore }: Page<Row>,
  present: (row: Row) => Item,
): { items: Item[]; next_cursor: string | null; has_more: boolean } => ({
  items: items.map((row) => present(row)),
  next_cursor: nextCursor,
  has_more: hasMore,
})
