// The languages that the blocks of code in a Markdown text name.

/** The language after each fence. */
const FENCES = /^[ \t>*+-]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]+)/gm

/** The languages after the fences of a text, in lower case, each once. */
export const fenceLanguages = (markdown: string): ReadonlySet<string> =>
  new Set([...markdown.matchAll(FENCES)].map(([, name = '']) => name.toLowerCase()))
