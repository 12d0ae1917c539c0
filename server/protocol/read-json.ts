// Reads JSON of unknown shape, for example from a model or a tool.

/** The parsed value; undefined if the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An object's own fields; empty for everything else, arrays included. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}

/** The value if it is a string. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** The value if it is a finite number. */
export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** The value if it is an array, else an empty array. The entries are unchecked. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
