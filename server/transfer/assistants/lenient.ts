// Schemas that read what other programs write: a field of an unexpected kind counts as absent.
import { z } from 'zod'

/** A text; anything else is undefined. */
export const text = z.string().optional().catch(undefined)
/** A finite number; anything else is undefined. */
export const number = z.number().optional().catch(undefined)
/** A list in which entries of another kind are missing; anything else is empty. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item.optional().catch(undefined))
    .catch([])
    .transform((found) => found.filter((one) => one !== undefined))
/** An object; anything else is as if it had no fields. */
export const within = <T extends z.ZodRawShape>(fields: T) =>
  z.looseObject(fields).catch(() => z.looseObject(fields).parse({}))

/** The names of fields that have a value. */
export const givenNames = (fields: Record<string, unknown>, known: readonly string[]): string[] =>
  Object.entries(fields)
    .filter(
      ([name, value]) =>
        !known.includes(name) &&
        value !== null &&
        value !== undefined &&
        value !== '' &&
        value !== false &&
        !(Array.isArray(value) && value.length === 0) &&
        !(typeof value === 'object' && Object.keys(value).length === 0),
    )
    .map(([name]) => name)
    .slice(0, 50)
