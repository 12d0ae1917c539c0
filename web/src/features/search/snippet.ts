// Reads the snippets of search hits: escaped text with hits in `<mark>`.

/** A stretch of a snippet as plain text; `isHit`: it matches what was searched for. */
export type SnippetPart = { text: string; isHit: boolean }

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** The text in parts. Only `<mark>` is read as markup, so that nothing else in it ever becomes an element. */
export const readSnippet = (html: string): SnippetPart[] =>
  html
    .split(/<mark>(.*?)<\/mark>/gs)
    .map((part, at) => ({
      text: part.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity),
      isHit: at % 2 === 1,
    }))
    .filter(({ text }) => text !== '')

/** The different texts of the hits. */
export const hitTexts = (html: string): string[] => [
  ...new Set(readSnippet(html).flatMap(({ text, isHit }) => (isHit ? [text] : []))),
]
