// URLs without Markdown syntax: where they end in languages that put no space after them.
import type { TreeNode } from './tree-node.ts'

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
  for (let at = nodes.length - 1; at >= Math.max(0, nodes.length - MAX_NODES_BACK); at -= 1) {
    const node = nodes[at]
    const value = node?.type === 'text' ? (node.value ?? '') : ''
    const place = node !== undefined && isWritten(node, value) ? value.lastIndexOf('**') : -1
    if (place >= 0) return /\s/.test(value[place + 2] ?? '') ? undefined : { at, place }
  }
  return undefined
}

/** Emphasis that ends after a bare URL which no space follows, as in `**网址：https://example.com**。` */
function takeEmphasis(nodes: readonly TreeNode[]): TreeNode[] {
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
  takeEmphasis(nodes).flatMap(endAtPunctuation)
