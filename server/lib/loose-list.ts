// Lists from outside: an element that cannot be read must not cost the others.
import { z } from 'zod'

/** The elements of the list that have the form of the schema; the others are left out. */
export const readableOf = <Schema extends z.ZodType>(
  element: Schema,
  list: readonly unknown[],
): z.output<Schema>[] =>
  list.flatMap((one): z.output<Schema>[] => {
    const read = element.safeParse(one)
    return read.success ? [read.data] : []
  })

/** A list without its unreadable elements. What is no list is an empty one. */
export const looseList = <Schema extends z.ZodType>(element: Schema) =>
  z
    .array(z.unknown())
    .nullish()
    .catch(null)
    .transform((all) => readableOf(element, all ?? []))
