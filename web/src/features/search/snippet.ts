// Parses the snippets of search hits: escaped text with `<mark>` around the hits.

/** A piece of a snippet as plain text. `isHit`: whether it matches the query. */
export type SnippetPart = { text: string; isHit: boolean }

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** Splits a snippet into pieces. Only `<mark>` is parsed as markup, so that nothing else becomes an element. */
export const readSnippet = (html: string): SnippetPart[] =>
  html
    .split(/<mark>(.*?)<\/mark>/gs)
    .map((part, at) => ({
      text: part.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity),
      isHit: at % 2 === 1,
    }))
    .filter(({ text }) => text !== '')

/** The distinct texts of the hits. */
export const hitTexts = (html: string): string[] => [
  ...new Set(readSnippet(html).flatMap(({ text, isHit }) => (isHit ? [text] : []))),
]
