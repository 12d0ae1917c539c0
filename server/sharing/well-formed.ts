// Replaces characters that PostgreSQL cannot store.

/** A copy of plain data in which NUL and lone surrogates in every text are U+FFFD. */
export function wellFormed<T>(value: T): T
/** The value with U+FFFD for U+0000 and for halves of surrogate pairs, in all texts inside of it. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd')
  if (Array.isArray(value)) return value.map((item: unknown) => wellFormed(item))
  if (value instanceof Date) return value
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [wellFormed(name), wellFormed(field)]),
    )
  return value
}
