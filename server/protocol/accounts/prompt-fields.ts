// The fields of a saved prompt: `{{name}}` in its text, filled in when the prompt is used.
const FIELD = /\{\{\s*([^{}\n]{1,60}?)\s*\}\}/g

/** The names of the fields, without duplicates, in order of appearance. */
export const fieldsOfPrompt = (text: string): string[] => [
  ...new Set([...text.matchAll(FIELD)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
]

/** The text with its fields filled in. Fields inside the values are not replaced. */
export const filledPrompt = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(FIELD, (field, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : field,
  )
