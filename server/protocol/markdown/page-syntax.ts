// What answers may contain beyond GitHub's Markdown: call-outs, footnotes across blocks, a few harmless tags, tables in HTML,
// line breaks, and the direction of each piece of text. HTML is never copied: a tag becomes one of our elements.

import { splitCitations, splitQuotes } from './citation-marks.ts'
import type { FootnoteNumbers } from './footnote-numbers.ts'
import { readTables } from './html-table.ts'
import type { TreeNode } from './tree-node.ts'

// URLs without Markdown syntax: where they end in languages that put no space after them.

/** Punctuation of Chinese, Japanese and Korean. In those languages no space separates a URL from what follows it. */
const AFTER_URL = '，。；：！？、（）【】《》〈〉「」『』“”‘’…'
const PUNCTUATION_AFTER_URL = new RegExp(`[${AFTER_URL}]`)
const ADDRESS = `https?://[^\\s*${AFTER_URL}]+`
/** A URL with asterisks on both sides, or one without. */
const FURTHER_URL = new RegExp(`\\*\\*(${ADDRESS})\\*\\*|(${ADDRESS})`, 'gi')

const textNode = (value: string): TreeNode => ({ type: 'text', value })
const textNodes = (value: string): TreeNode[] => (value === '' ? [] : [textNode(value)])

/** Whether the source of the node is this text: neither escapes nor the syntax of a link. */
function isWritten({ position }: TreeNode, text: string): boolean {
  if (position === undefined) return true
  return (position.end.offset ?? 0) - (position.start.offset ?? 0) === text.length
}

/** The text of a link that is written as its bare URL; undefined for other nodes. */
function bareUrl(node: TreeNode): string | undefined {
  const { type, url = '', children = [] } = node
  const shown = children[0]?.value ?? ''
  const isBare =
    type === 'link' && children.length === 1 && isWritten(node, shown) && url.endsWith(shown)
  return isBare ? shown : undefined
}

/** The link without what follows its first `end` characters, which are not all. */
const cut = (link: TreeNode, shown: string, end: number): TreeNode => ({
  ...link,
  url: (link.url ?? '').slice(0, end - shown.length),
  children: [textNode(shown.slice(0, end))],
})

/** What followed a bare URL without a space: text, and perhaps further URLs. */
function afterUrl(rest: string): TreeNode[] {
  const out: TreeNode[] = []
  let kept = 0
  for (const { 0: all, 1: emphasized, 2: plain, index } of rest.matchAll(FURTHER_URL)) {
    const url = emphasized ?? plain ?? ''
    const link = { type: 'link', url, children: [textNode(url)] }
    out.push(...textNodes(rest.slice(kept, index)))
    out.push(emphasized === undefined ? link : { type: 'strong', children: [link] })
    kept = index + all.length
  }
  return [...out, ...textNodes(rest.slice(kept))]
}

/** A link that is written as its bare URL ends at the first such punctuation; GitHub's Markdown continues to the next space. */
function endAtPunctuation(node: TreeNode): TreeNode[] {
  const shown = bareUrl(node)
  if (shown === undefined) return [node]
  let end = shown.search(PUNCTUATION_AFTER_URL)
  // The end of emphasis around the URL.
  while (shown[end - 1] === '*') end -= 1
  return end < 1 ? [node] : [cut(node, shown, end), ...afterUrl(shown.slice(end))]
}

/** How many nodes before a URL may contain the beginning of its emphasis. */
const MAX_NODES_BACK = 50

/** Where emphasis begins that has not ended: the index of the node and the place of its asterisks. */
function openingIn(nodes: readonly TreeNode[]): { at: number; place: number } | undefined {
  for (
    let index = nodes.length - 1;
    index >= Math.max(0, nodes.length - MAX_NODES_BACK);
    index -= 1
  ) {
    const node = nodes[index]
    const value = node?.type === 'text' ? (node.value ?? '') : ''
    const place = node !== undefined && isWritten(node, value) ? value.lastIndexOf('**') : -1
    if (place >= 0) return /\s/.test(value[place + 2] ?? '') ? undefined : { at: index, place }
  }
  return undefined
}

/** Emphasis that ends after a bare URL which no space follows, as in `**网址：https://example.com**。` */
function readEmphasis(nodes: readonly TreeNode[]): TreeNode[] {
  const out: TreeNode[] = []
  for (const node of nodes) {
    const shown = bareUrl(node) ?? ''
    const end = shown.indexOf('**')
    const opening = end > 0 ? openingIn(out) : undefined
    if (opening === undefined) {
      out.push(node)
      continue
    }
    const [first, ...inner] = out.splice(opening.at)
    const value = first?.value ?? ''
    out.push(...textNodes(value.slice(0, opening.place)), {
      type: 'strong',
      children: [...textNodes(value.slice(opening.place + 2)), ...inner, cut(node, shown, end)],
    })
    // One by one: there may be more of them than a call takes arguments.
    for (const after of afterUrl(shown.slice(end + 2))) out.push(after)
  }
  return out
}

/** The nodes with their bare URLs ended where a reader would end them. */
export const splitBareUrls = (nodes: readonly TreeNode[]): TreeNode[] =>
  readEmphasis(nodes).flatMap(endAtPunctuation)

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
function readTags(children: TreeNode[]): TreeNode[] {
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
function readReferences(text: TreeNode, numbers: FootnoteNumbers): TreeNode[] {
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
function readLineBreaks(children: readonly TreeNode[]): TreeNode[] {
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
const readCitations = (text: TreeNode, count: number): TreeNode[] =>
  splitCitations(text.value ?? '', count).flatMap((piece): TreeNode[] =>
    typeof piece === 'string'
      ? [{ type: 'text', value: piece }]
      : piece.map((number) => ({
          type: 'emphasis',
          data: { hName: 'cite', hProperties: { dataCitation: number } },
          children: [{ type: 'text', value: String(number) }],
        })),
  )

/** `[c1]` becomes the link to a quote. */
const readQuotes = (text: TreeNode): TreeNode[] =>
  splitQuotes(text.value ?? '').map(
    (piece): TreeNode =>
      typeof piece === 'string'
        ? { type: 'text', value: piece }
        : {
            type: 'emphasis',
            data: { hName: 'cite', hProperties: { dataQuote: piece.id } },
            children: [{ type: 'text', value: `[${piece.id}]` }],
          },
  )

type Marks = {
  numbers: FootnoteNumbers
  /** How many numbered sources the text has. */
  citations: number
  /** Whether the text has quotes. */
  quotes: boolean
  /** Whether the ends of lines are kept: in messages, not in files, whose lines are often wrapped at a width. */
  keepsLines: boolean
}

function visit(node: TreeNode, marks: Marks): void {
  const { numbers, citations } = marks
  if (node.type === 'blockquote') markAlert(node)
  if (node.children === undefined) return
  node.children = readTables(node.children)
  for (const child of node.children)
    visit(child, node.type === 'link' ? { ...marks, citations: 0, quotes: false } : marks)
  node.children = readTags(splitBareUrls(node.children))
  if (marks.keepsLines) node.children = readLineBreaks(node.children)
  if (citations > 0 && node.type !== 'link')
    node.children = node.children.flatMap((child) =>
      child.type === 'text' ? readCitations(child, citations) : [child],
    )
  if (marks.quotes && node.type !== 'link')
    node.children = node.children.flatMap((child) =>
      child.type === 'text' ? readQuotes(child) : [child],
    )
  if (numbers.size > 0 && node.type !== 'link')
    node.children = node.children.flatMap((child) =>
      child.type === 'text' ? readReferences(child, numbers) : [child],
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

/** Characters that are as wide as two Latin ones: Chinese, Japanese and Korean writing. */
const WIDE_CHARACTERS =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/g

/** How wide the text is, in Latin characters. */
function textWidth(node: TreeNode): number {
  if (node.type === 'text') {
    const text = node.value ?? ''
    return text.length + (text.match(WIDE_CHARACTERS)?.length ?? 0)
  }
  return (node.children ?? []).reduce((sum, child) => sum + textWidth(child), 0)
}

/** From these widths on, in Latin characters, a table cell gets room for several words per line. */
const WIDE_CELL = 28
const WIDEST_CELL = 80
/** Up to this width a cell stays on one line, so that a name or figure does not break at its hyphen. */
const SHORT_CELL = 14

/** Between short and wide, a cell stays on one line where the screen has room: a name would make its row three lines high. */
const cellClass = (width: number): string =>
  width <= SHORT_CELL
    ? 'cell-short'
    : width < WIDE_CELL
      ? 'cell-line'
      : width < WIDEST_CELL
        ? 'cell-wide'
        : 'cell-widest'

function shape(node: TreeNode, inherits: boolean): void {
  if (node.type === 'element') {
    const name = node.tagName ?? ''
    const className = CELL.test(name) ? cellClass(textWidth(node)) : null
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
