// What answers may contain beyond GitHub's Markdown: call-outs, footnotes across blocks, a few harmless tags, tables in HTML,
// line breaks, and the direction of each piece of text. HTML is never copied: a tag becomes one of our elements.

import { splitBareUrls } from './bare-urls.ts'
import { splitCitations } from './citation-marks.ts'
import type { FootnoteNumbers } from './footnote-numbers.ts'
import { takeTables } from './html-table.ts'
import type { TreeNode } from './tree-node.ts'

export const ALERT_KINDS = ['note', 'tip', 'important', 'warning', 'caution'] as const
/** The kinds of alerts (`> [!NOTE]`), in lower case. */
export type AlertKind = (typeof ALERT_KINDS)[number]

const ALERT_MARK = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

/** `> [!NOTE]` on a line of its own turns the quotation into a call-out. */
function markAlert(quote: TreeNode): void {
  const paragraph = quote.children?.[0]
  const first = paragraph?.type === 'paragraph' ? paragraph.children?.[0] : undefined
  const mark = first?.type === 'text' ? ALERT_MARK.exec(first.value ?? '') : null
  if (first === undefined || mark === null) return
  first.value = (first.value ?? '').slice(mark[0].length)
  if (first.value === '' && paragraph?.children?.length === 1) quote.children?.shift()
  quote.data = { hName: 'aside', hProperties: { dataAlert: mark[1]?.toLowerCase() } }
}

const PAIRED_TAG = /^<(\/?)(sub|sup|kbd|mark|u|s|b|i|strong|em|small|del|ins)>$/i
const BREAK_TAG = /^<br\s*\/?>$/i

/** Tags that only mark up text become elements; a pair must be closed within its paragraph. */
function takeTags(children: TreeNode[]): TreeNode[] {
  if (!children.some(({ type }) => type === 'html')) return children
  const out: TreeNode[] = []
  const open: { name: string; at: number }[] = []
  for (const child of children) {
    const tag = child.type === 'html' ? PAIRED_TAG.exec(child.value ?? '') : null
    if (child.type === 'html' && BREAK_TAG.test(child.value ?? '')) out.push({ type: 'break' })
    else if (tag === null) out.push(child)
    else if (tag[1] === '') {
      open.push({ name: tag[2]?.toLowerCase() ?? '', at: out.length })
      out.push(child)
    } else {
      const start = open.pop()
      if (start === undefined || start.name !== tag[2]?.toLowerCase()) {
        // Overlapping tags are ignored.
        open.length = 0
        out.push(child)
      } else {
        const inner = out.splice(start.at).slice(1)
        out.push({ type: 'emphasis', data: { hName: start.name }, children: inner })
      }
    }
  }
  return out
}

const FOOTNOTE_REFERENCE = /\[\^([^\]\s]{1,100})\]/g

/** `[^name]` becomes the number of its footnote. */
function takeReferences(text: TreeNode, numbers: FootnoteNumbers): TreeNode[] {
  const value = text.value ?? ''
  const out: TreeNode[] = []
  let kept = 0
  for (const found of value.matchAll(FOOTNOTE_REFERENCE)) {
    const note = numbers.get(found[1] ?? '')
    if (note === undefined) continue
    if (found.index > kept) out.push({ type: 'text', value: value.slice(kept, found.index) })
    out.push({
      type: 'emphasis',
      data: { hName: 'sup', hProperties: { dataFootnote: note.number, dataKnown: note.known } },
      children: [{ type: 'text', value: String(note.number) }],
    })
    kept = found.index + found[0].length
  }
  if (out.length === 0) return [text]
  if (kept < value.length) out.push({ type: 'text', value: value.slice(kept) })
  return out
}

/** A line that ends is a line that ends, as its writer sees it while writing: see docs/decisions/0016-line-breaks-are-kept.md. */
function takeLineBreaks(children: readonly TreeNode[]): TreeNode[] {
  const out: TreeNode[] = []
  for (const child of children) {
    if (child.type !== 'text' || child.value?.includes('\n') !== true) {
      out.push(child)
      continue
    }
    // A break that is written, such as `<br>`, is not doubled by the end of its line.
    const value = out.at(-1)?.type === 'break' ? child.value.replace(/^\n/, '') : child.value
    value.split('\n').forEach((line, index) => {
      if (index > 0) out.push({ type: 'break' })
      if (line !== '') out.push({ type: 'text', value: line })
    })
  }
  return out
}

/** `[1]` becomes the chip of a source. */
const takeCitations = (text: TreeNode, count: number): TreeNode[] =>
  splitCitations(text.value ?? '', count).flatMap((piece): TreeNode[] =>
    typeof piece === 'string'
      ? [{ type: 'text', value: piece }]
      : piece.map((number) => ({
          type: 'emphasis',
          data: { hName: 'cite', hProperties: { dataCitation: number } },
          children: [{ type: 'text', value: String(number) }],
        })),
  )

type Marks = {
  numbers: FootnoteNumbers
  /** How many numbered sources the text has. */
  citations: number
  /** Whether the ends of lines are kept: in messages, not in files, whose lines are often wrapped at a width. */
  keepsLines: boolean
}

function visit(node: TreeNode, marks: Marks): void {
  const { numbers, citations } = marks
  if (node.type === 'blockquote') markAlert(node)
  if (node.children === undefined) return
  node.children = takeTables(node.children)
  for (const child of node.children)
    visit(child, node.type === 'link' ? { ...marks, citations: 0 } : marks)
  node.children = takeTags(splitBareUrls(node.children))
  if (marks.keepsLines) node.children = takeLineBreaks(node.children)
  if (citations > 0 && node.type !== 'link')
    node.children = node.children.flatMap((child) =>
      child.type === 'text' ? takeCitations(child, citations) : [child],
    )
  if (numbers.size > 0 && node.type !== 'link')
    node.children = node.children.flatMap((child) =>
      child.type === 'text' ? takeReferences(child, numbers) : [child],
    )
}

/** A remark plugin; `marks` collects what the tree has to be told after parsing. */
export const remarkPageSyntax =
  (marks: Marks) =>
  (tree: TreeNode): void =>
    visit(tree, marks)

const DIRECTED_BLOCKS = /^(?:p|h[1-6])$/
const CELL = /^t[hd]$/
/** Blocks of blocks. For these a browser's `dir="auto"` would skip the text of children with a direction of their own. */
const DIRECTED_CONTAINERS = /^(?:ul|ol|blockquote|aside|table)$/

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u

type Direction = 'ltr' | 'rtl'

/** Whether some of a text may run from right to left. */
export const mayRunRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text)

const directionFrom = (letter: string): Direction => (RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr')

const CODE_OR_TAG = /`[^`]*`|<[^<>]*>/g
/** Only this much of a text is searched for its first letter. */
const SEARCHED_CHARACTERS = 2_000

/** The direction of a Markdown text that forms a block of its own, by its first letter outside code and tags; undefined if it has none. */
export function directionOfText(markdown: string): Direction | undefined {
  const [letter] =
    /\p{L}/u.exec(markdown.slice(0, SEARCHED_CHARACTERS).replace(CODE_OR_TAG, '')) ?? []
  return letter === undefined ? undefined : directionFrom(letter)
}

/** The first letter that is no code. */
function firstLetter(node: TreeNode): string | null {
  if (node.type === 'text') return /\p{L}/u.exec(node.value ?? '')?.[0] ?? null
  if (node.tagName === 'code') return null
  for (const child of node.children ?? []) {
    const letter = firstLetter(child)
    if (letter !== null) return letter
  }
  return null
}

/**
 * The first letter decides: Arabic and Hebrew run right to left, whatever the page's language. A cell without letters stands
 * like the others of its table.
 */
function directionOf(
  name: string,
  node: TreeNode,
  inherits: boolean,
): { dir?: 'auto' | Direction } {
  if (DIRECTED_BLOCKS.test(name)) return inherits ? {} : { dir: 'auto' }
  if (!CELL.test(name) && !DIRECTED_CONTAINERS.test(name)) return {}
  const letter = firstLetter(node)
  return letter === null ? {} : { dir: directionFrom(letter) }
}

function textLength(node: TreeNode): number {
  if (node.type === 'text') return node.value?.length ?? 0
  return (node.children ?? []).reduce((sum, child) => sum + textLength(child), 0)
}

/** From these lengths on, in characters, a table cell gets room for several words per line. */
const WIDE_CELL = 28
const WIDEST_CELL = 80
/** Up to this length a cell stays on one line, so that a name or figure does not break at its hyphen. */
const SHORT_CELL = 14

const cellClass = (length: number): string | null =>
  length <= SHORT_CELL
    ? 'cell-short'
    : length < WIDE_CELL
      ? null
      : length < WIDEST_CELL
        ? 'cell-wide'
        : 'cell-widest'

function shape(node: TreeNode, inherits: boolean): void {
  if (node.type === 'element') {
    const name = node.tagName ?? ''
    const className = CELL.test(name) ? cellClass(textLength(node)) : null
    node.properties = {
      ...node.properties,
      ...directionOf(name, node, inherits),
      ...(className === null ? {} : { className }),
    }
  }
  for (const child of node.children ?? []) shape(child, inherits)
}

/**
 * Gives each piece of text its direction, and table cells a width that fits their content.
 * @param options.inherits paragraphs and headings run as what encloses them: from left to right, like all of the text.
 */
export const rehypeShape =
  ({ inherits = false }: { inherits?: boolean } = {}) =>
  (tree: TreeNode): void =>
    shape(tree, inherits)
