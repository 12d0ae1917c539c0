// Parses the snippets of search hits: escaped text with `<mark>` around the hits.

import { plainPreview } from '../../ui/markdown/plain-preview.ts'

/** A piece of a snippet as plain text. `isHit`: whether it matches the query. */
export type SnippetPart = { text: string; isHit: boolean }

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** Stand for the tags while the text between them changes; texts do not contain them. */
const [START, END] = ['\ue000', '\ue001']

/**
 * Splits a snippet into pieces. Only `<mark>` is parsed as markup, so that nothing else becomes an element. `isMarkdown`: its
 * syntax is left out.
 */
export function readSnippet(html: string, isMarkdown = false): SnippetPart[] {
  const text = html
    .replaceAll(/[\ue000\ue001]/g, '')
    .replaceAll(/<(\/?)mark>/g, (_tag, end) => (end === '' ? START : END))
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
  return (isMarkdown ? plainPreview(text) : text)
    .split(/\ue000(.*?)\ue001/gs)
    .map((part, at) => ({ text: part.replaceAll(/[\ue000\ue001]/g, ''), isHit: at % 2 === 1 }))
    .filter(({ text: piece }) => piece !== '')
}

/** The distinct texts of the hits. */
export const hitTexts = (html: string): string[] => [
  ...new Set(readSnippet(html).flatMap(({ text, isHit }) => (isHit ? [text] : []))),
]

/** The name of the tool that the snippet of a tool's step begins with, and the pieces after it; null if the match is in the name. */
export function splitToolName(
  parts: readonly SnippetPart[],
): { name: string; rest: SnippetPart[] } | null {
  const [first, ...others] = parts
  if (first === undefined || first.isHit) return null
  const [, name, text] = /^(\w+) (.*)$/s.exec(first.text) ?? []
  if (name === undefined || text === undefined) return null
  return { name, rest: text === '' ? others : [{ text, isHit: false }, ...others] }
}
