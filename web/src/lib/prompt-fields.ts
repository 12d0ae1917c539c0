// The fields of a saved prompt: `{{name}}` in its text stands for what is filled in when it is used.
const FIELD = /\{\{\s*([^{}\n]{1,60}?)\s*\}\}/g

/** The names of the fields, each once, in the order of the text. */
export const fieldsOfPrompt = (text: string): string[] => [
  ...new Set([...text.matchAll(FIELD)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
]

/** The text with the fields filled in, once: what is filled in is not searched for fields again. */
export const filledPrompt = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(FIELD, (field, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : field,
  )
