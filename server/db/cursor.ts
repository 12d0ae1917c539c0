// Opaque cursors of lists: where the next page starts.
import { z } from 'zod'
import { appError } from '../errors.ts'

type CursorValue = string | number | null | readonly CursorValue[]

/** A position in a list as text that is safe in a query string. */
export const encodeCursor = (position: readonly CursorValue[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url')

/** @throws AppError `cursor_invalid` for anything but the text of a position that matches `schema`. */
export function decodeCursor<Schema extends z.ZodType>(
  schema: Schema,
  cursor: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch (cause) {
    throw appError('cursor_invalid', {}, { cause })
  }
}

/** A position in a list ordered by time, then by id. */
export const MomentCursor = z.tuple([
  z.int().min(0).max(8_640_000_000_000_000),
  z.string().min(1).max(64),
])

/** Builds a page from up to `limit + 1` queried rows; the extra row shows that another page follows. */
export function toPage<Row>(
  rows: Row[],
  limit: number,
  positionOf: (last: Row) => readonly (string | number)[],
): { items: Row[]; nextCursor: string | null; hasMore: boolean } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const hasMore = rows.length > limit
  return {
    items,
    nextCursor: hasMore && last !== undefined ? encodeCursor(positionOf(last)) : null,
    hasMore,
  }
}
