// Tables that models write in HTML, for cells that span others or hold lists. The tags become elements of ours: nothing of the
// HTML is copied but text, the addresses of links, and the numbers of cells that are spanned.
import { Parser } from 'htmlparser2'
import type { TreeNode } from './tree-node.ts'

const TABLE_START = /^\s*<table[\s>]/i
/** Deeper elements are left out; their text stays. */
const MAX_DEPTH = 24
/** The most rows or columns that a cell spans. */
const MAX_SPAN = 100

/** Elements that become the same element, by the elements in which they may stand; without any, in any cell or caption. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  caption: ['table'],
  thead: ['table'],
  tbody: ['table'],
  tfoot: ['table'],
  tr: ['thead', 'tbody', 'tfoot'],
  td: ['tr'],
  th: ['tr'],
}
const IN_CELLS =
  /^(?:table|p|strong|b|em|i|u|s|del|ins|sub|sup|kbd|mark|small|code|ul|ol|li|blockquote)$/
/** What is in these is no text. */
const LEFT_OUT = /^(?:script|style|template|noscript|iframe|object|svg|math|title|textarea|select)$/
const HEADING = /^h[1-6]$/
const ALIGNMENT = /^(?:left|right|center)$/i
/** These hold elements only, so the blanks between are no text. */
const HOLDS_ELEMENTS = /^(?:table|thead|tbody|tfoot|tr|ul|ol)$/

const element = (name: string, properties: Record<string, unknown> = {}): TreeNode => ({
  type: 'emphasis',
  data: { hName: name, hProperties: properties },
  children: [],
})

function cellProperties(attributes: Readonly<Record<string, string>>): Record<string, unknown> {
  const span = (value: string | undefined): number | undefined => {
    const count = /^\d{1,4}$/.test(value ?? '') ? Number(value) : 1
    return count > 1 ? Math.min(count, MAX_SPAN) : undefined
  }
  const styled = /text-align:\s*(left|right|center)/i.exec(attributes.style ?? '')?.[1]
  const align = styled ?? attributes.align ?? ''
  return {
    colSpan: span(attributes.colspan),
    rowSpan: span(attributes.rowspan),
    align: ALIGNMENT.test(align) ? align.toLowerCase() : undefined,
  }
}

/** The nodes of a piece of HTML that begins with a table. What is open at its end is closed. */
function readTable(html: string): TreeNode[] {
  const root: TreeNode = { type: 'root', children: [] }
  /** The elements that are open; a tag without an element of its own has the node of its parent. */
  const open: { tag: string; name: string; node: TreeNode }[] = []
  const parent = () => open.at(-1) ?? { tag: '', name: '', node: root }
  let leftOut = 0
  const add = (node: TreeNode): void => {
    parent().node.children?.push(node)
  }
  const enter = (tag: string, name: string, properties?: Record<string, unknown>): void => {
    const node = element(name, properties)
    add(node)
    open.push({ tag, name, node })
  }
  const isInCell = (): boolean =>
    open.some(({ name }) => name === 'td' || name === 'th' || name === 'caption')
  /** Opens the elements that HTML lets a writer leave out. */
  const enterMissing = (tag: string): void => {
    if (tag === 'tr' && parent().name === 'table') enter('', 'tbody')
    if ((tag === 'td' || tag === 'th') && parent().name !== 'tr') {
      if (parent().name === 'table') enter('', 'tbody')
      if (PARENTS.tr?.includes(parent().name)) enter('', 'tr')
    }
  }
  /** Closes what HTML ends at this tag: a cell at the next one, a row at the next one. */
  const leaveEnded = (tag: string): void => {
    const within = PARENTS[tag]
    if (within === undefined) return
    const table = open.findLastIndex(({ name }) => name === 'table')
    const holders = tag === 'td' || tag === 'th' ? ['tr', 'thead', 'tbody', 'tfoot'] : within
    const holder = open.findLastIndex(
      ({ name }, index) => index >= table && [...holders, 'table'].includes(name),
    )
    if (holder >= 0) open.length = holder + 1
  }
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (leftOut > 0 || LEFT_OUT.test(tag)) {
        leftOut += 1
        return
      }
      if (tag === 'br') {
        add({ type: 'break' })
        return
      }
      if (tag === 'img') {
        const { src = '', alt = '' } = attributes
        if (isInCell() && src !== '') add({ type: 'image', url: src, alt })
        return
      }
      leaveEnded(tag)
      enterMissing(tag)
      const inCell = isInCell()
      if (open.length >= MAX_DEPTH) open.push({ tag, name: '', node: parent().node })
      else if (PARENTS[tag]?.includes(parent().name))
        enter(tag, tag, tag === 'td' || tag === 'th' ? cellProperties(attributes) : {})
      else if (tag === 'table' && (open.length === 0 || inCell)) enter(tag, tag)
      else if (inCell && tag === 'a') {
        const link: TreeNode = { type: 'link', url: attributes.href ?? '', children: [] }
        add(link)
        open.push({ tag, name: 'a', node: link })
      } else if (inCell && HEADING.test(tag)) enter(tag, 'strong')
      else if (inCell && tag === 'pre') enter(tag, 'code')
      else if (inCell && (IN_CELLS.test(tag) || tag === 'div') && PARENTS[tag] === undefined)
        enter(tag, tag === 'div' ? 'p' : tag)
      else open.push({ tag, name: parent().name, node: parent().node })
    },
    ontext(text) {
      if (leftOut > 0) return
      const { name, node } = parent()
      if (text.trim() === '' && (HOLDS_ELEMENTS.test(name) || open.length === 0)) return
      const last = node.children?.at(-1)
      // A line of the source is no line of the table.
      const value = open.some((one) => one.tag === 'pre') ? text : text.replaceAll(/\s+/g, ' ')
      if (last?.type === 'text') last.value = (last.value ?? '') + value
      else if (HOLDS_ELEMENTS.test(name))
        root.children?.unshift({ type: 'paragraph', children: [{ type: 'text', value }] })
      else if (open.length === 0) add({ type: 'paragraph', children: [{ type: 'text', value }] })
      else add({ type: 'text', value })
    },
    onclosetag(tag) {
      if (leftOut > 0) {
        leftOut -= 1
        return
      }
      const from = open.findLastIndex((one) => one.tag === tag)
      // A cell's end tag does not end an element around its table.
      const table = open.findLastIndex(({ name }) => name === 'table')
      if (from >= 0 && from >= table) open.length = from
    },
  })
  parser.write(html)
  parser.end()
  return root.children ?? []
}

/** The nodes with HTML that begins with a table read as one. */
export const readTables = (nodes: TreeNode[]): TreeNode[] =>
  nodes.some(({ type, value }) => type === 'html' && TABLE_START.test(value ?? ''))
    ? nodes.flatMap((node) =>
        node.type === 'html' && TABLE_START.test(node.value ?? '')
          ? readTable(node.value ?? '')
          : [node],
      )
    : nodes
