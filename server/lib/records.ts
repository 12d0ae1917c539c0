// Narrows unknown values: to objects with unknown fields, and to texts.

/** Whether the value is an object and not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is an object and not an array; otherwise undefined. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  isRecord(value) ? value : undefined

/** The value if it is a text; otherwise ''. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
