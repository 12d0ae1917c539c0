// The success envelope, paging and the small shapes that every route shares.
import { z } from 'zod'

/** Of everything that succeeded. Shared, because each of hundreds of routes would keep its own. */
const Succeeded = z.literal(0)

/** `{"code":0,"data":…}` */
export const envelope = <T extends z.ZodType>(data: T) => z.object({ code: Succeeded, data })

export const Deleted = z.object({ code: Succeeded, message: z.string() }).meta({ id: 'Deleted' })

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime()

/** Maximum number of items per page, unless `limits.page_items` is larger. */
export const PAGE_ITEMS = 100
/** The requested number of items, from 1 to `most`. */
export const pageLimit = (most: number) => z.coerce.number().int().min(1).max(most)

/** The query of every list: `limit` from 1 to 100, and an opaque `cursor`. */
export const PageQuery = z.object({
  limit: pageLimit(PAGE_ITEMS).optional(),
  cursor: z.string().max(500).optional(),
})

const PageEnd = { next_cursor: z.string().nullable(), has_more: z.boolean() }

/** The schema of one page of a list. */
export const page = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), ...PageEnd })

/** One page of a list inside the server, before it is presented. */
export type Page<T> = { items: T[]; nextCursor: string | null; hasMore: boolean }

/** An optional field for which `null` means absent. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined)

/** Text without NUL, which PostgreSQL and system calls refuse. */
export const withoutNul = (text: z.ZodString): z.ZodString =>
  text.refine((value) => !value.includes('\0'), 'must not contain NUL characters')
