// Definitions of reference-style links (`[name]: https://…`), which blocks that are parsed separately share.
import type { Block } from './split-blocks.ts'

/** The lines that define links, by the normalized name of the link. */
export type LinkDefinitions = ReadonlyMap<string, string>

/**
 * A definition on one line: a name, a destination and at most a title. What looks like one but has more words, such as
 * "[INFO]: server started", is text.
 */
const DEFINITION =
  /^ {0,3}\[(?!\^)([^[\]]{1,200})\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/
const MENTION = /\[([^[\]]{1,200})\]/g

/** The same object for every text without definitions, so that its parts need not be drawn again as it grows. */
const NO_DEFINITIONS: LinkDefinitions = new Map()

/** As Markdown compares names. */
const normalized = (name: string): string => name.trim().replaceAll(/\s+/g, ' ').toLowerCase()

/** The lines of a text that define links, joined by newlines; they cannot follow the text of a paragraph. */
export function definitionLines(blocks: readonly Block[]): string {
  const lines: string[] = []
  for (const block of blocks) {
    if (block.kind !== 'markdown' || !block.text.includes(']:')) continue
    for (const line of block.text.split('\n')) {
      if (!DEFINITION.test(line)) break
      lines.push(line)
    }
  }
  return lines.join('\n')
}

/** @param lines from `definitionLines`. Of several definitions of a name, the first applies. */
export function readDefinitions(
  lines: string,
  enclosing: LinkDefinitions = NO_DEFINITIONS,
): LinkDefinitions {
  if (lines === '') return enclosing
  const definitions = new Map(enclosing)
  for (const line of lines.split('\n')) {
    const name = normalized(DEFINITION.exec(line)?.[1] ?? '')
    if (name !== '' && !definitions.has(name)) definitions.set(name, line)
  }
  return definitions
}

/** The text of a block with the definitions of the links that it mentions before it. */
export function withDefinitions(text: string, definitions: LinkDefinitions): string {
  if (definitions.size === 0 || !text.includes('[')) return text
  const used = new Set<string>()
  for (const [, name = ''] of text.matchAll(MENTION)) {
    const line = definitions.get(normalized(name))
    if (line !== undefined) used.add(line)
  }
  return used.size === 0 ? text : `${[...used].join('\n')}\n\n${text}`
}
