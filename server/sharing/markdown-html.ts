// Renders Markdown from anybody as safe HTML without scripts: what the page shows, except for what needs a script.
import { createHash } from 'node:crypto'
import { toHtml } from 'hast-util-to-html'
import katex from 'katex'
import 'katex/contrib/mhchem' // chemical formulas: \ce and \pu
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { toHast } from 'mdast-util-to-hast'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'
import { escapeHtml } from '../lib/escape-html.ts'
import { cjkEmphasis, GFM_OPTIONS } from '../protocol/markdown/dialect.ts'
import {
  type Footnote,
  type FootnoteNumbers,
  numberFootnotes,
} from '../protocol/markdown/footnote-numbers.ts'
import { addressToShow } from '../protocol/markdown/link-address.ts'
import { mayHoldMath, prepareMath } from '../protocol/markdown/math-text.ts'
import { lengthenMarks, markFor } from '../protocol/markdown/nested-fences.ts'
import {
  ALERT_KINDS,
  directionOfText,
  rehypeShape,
  remarkPageSyntax,
} from '../protocol/markdown/page-syntax.ts'
import { type Block, splitBlocks } from '../protocol/markdown/split-blocks.ts'
import type { TreeNode } from '../protocol/markdown/tree-node.ts'
import { type ColourCode, uncoloured } from './code-colours.ts'
import type { ProseTexts } from './prose-texts.ts'
import type { CitedSource } from './render-request.ts'
import { wellFormed } from './well-formed.ts'

/** How deep foldable sections may nest; deeper ones are shown as written. */
const MAX_DETAILS_DEPTH = 4
/** The protocols of links. An address without a protocol leads within the site. */
const SAFE_ADDRESS = /^(?:https?:|ircs?:|mailto:|xmpp:|[^:]*(?:[/?#]|$))/i

/** The class that names the language of a block of code. */
const LANGUAGE = /^language-([\w+#.-]+)$/

interface Rendering {
  texts: ProseTexts
  numbers: FootnoteNumbers
  /** The prefix of the ids of this text's footnotes, because a document contains many texts. */
  prefix: string
  /** The footnotes whose mark already has an id. */
  marked: Set<number>
  hasFrames: boolean
  sources: ReadonlyMap<number, CitedSource>
  colour: ColourCode
}

const element = (
  tagName: string,
  properties: Record<string, unknown>,
  children: TreeNode[],
): TreeNode => ({ type: 'element', tagName, properties, children })

const textOf = (node: TreeNode): string =>
  node.value ?? (node.children ?? []).map((child) => textOf(child)).join('')

/** MathML, which browsers draw without a script or a font of ours; TeX that is invalid stays as written. */
function formula(tex: string, displayMode: boolean): TreeNode {
  try {
    const value = katex.renderToString(tex, {
      output: 'mathml',
      displayMode,
      throwOnError: true,
      strict: 'ignore',
      maxSize: 20,
      maxExpand: 200,
    })
    return { type: 'raw', value }
  } catch {
    return element('code', {}, [{ type: 'text', value: tex }])
  }
}

const hasClass = ({ properties }: TreeNode, name: string): boolean =>
  [properties?.className].flat().includes(name)

function footnoteMark(number: number, { prefix, marked }: Rendering): TreeNode {
  const id = marked.has(number) ? {} : { id: `${prefix}-mark-${number}` }
  marked.add(number)
  return element('a', { ...id, href: `#${prefix}-${number}` }, [
    { type: 'text', value: String(number) },
  ])
}

/** `[1]` as the page shows it, leading to the source if that has an address. */
function citation(number: number, { sources }: Rendering): TreeNode {
  const source = sources.get(number)
  const text = (value: string): TreeNode => ({ type: 'text', value })
  if (source === undefined) return text(`[${number}]`)
  const className = 'citation'
  if (source.url === undefined || !SAFE_ADDRESS.test(source.url))
    return element('span', { className }, [text(String(number))])
  const properties = { className, rel: 'nofollow noopener noreferrer', href: source.url }
  return element('a', properties, [text(String(number))])
}

/** The text of a block of code, in colours if its language has a grammar. */
function codePieces(code: TreeNode, className: string, { colour }: Rendering): TreeNode[] {
  const [, language = ''] = LANGUAGE.exec(className) ?? []
  const pieces = colour(textOf(code), language)
  if (pieces === null) return code.children ?? []
  return pieces.map(({ text: value, kind }) => {
    const text: TreeNode = { type: 'text', value }
    return kind === null ? text : element('span', { className: `code-${kind}` }, [text])
  })
}

/** A link. If its address can carry data that its text does not show, the address stands behind it, as on the page. */
function outwardLink(href: string, children: TreeNode[]): TreeNode {
  const link = element('a', { rel: 'nofollow noopener noreferrer', href }, children)
  const address = addressToShow(href, children.map((child) => textOf(child)).join(''))
  if (address === null) return link
  const text: TreeNode = { type: 'text', value: ` (${address})` }
  return element('span', {}, [
    link,
    element('span', { className: 'link-address', dir: 'ltr' }, [text]),
  ])
}

/** A longer source stays code. */
const MAX_DIAGRAM_CHARACTERS = 20_000

const codeBlock = (children: TreeNode[]): TreeNode =>
  element('pre', { className: 'code', dir: 'ltr', tabIndex: 0 }, children)

/** A diagram, drawn by a frame without access to the page, above its source. */
function diagram({ children = [] }: TreeNode, source: string): TreeNode {
  if (source.length > MAX_DIAGRAM_CHARACTERS) return codeBlock(children)
  const text = (value: string): TreeNode => ({ type: 'text', value })
  const frame = {
    src: `../diagram.html#${encodeURIComponent(wellFormed(source))}`,
    sandbox: 'allow-scripts',
    title: 'Mermaid',
    loading: 'lazy',
  }
  return element('figure', { className: 'diagram' }, [
    element('iframe', frame, []),
    element('details', {}, [element('summary', {}, [text('Mermaid')]), codeBlock(children)]),
  ])
}

/** An element as a document may contain it, with finished children. */
function finished(node: TreeNode, rendering: Rendering): TreeNode {
  const { tagName, properties = {}, children = [] } = node
  switch (tagName) {
    case 'a': {
      const { href } = properties
      if (typeof href !== 'string' || !SAFE_ADDRESS.test(href)) return element('span', {}, children)
      return outwardLink(href, children)
    }
    // An image would be fetched from wherever the text says, so it becomes a link.
    case 'img': {
      const source = typeof properties.src === 'string' ? properties.src : ''
      const alt = typeof properties.alt === 'string' ? properties.alt : ''
      const label: TreeNode = { type: 'text', value: alt === '' ? source.slice(0, 100) : alt }
      if (!/^https?:/i.test(source)) return label
      return outwardLink(source, [label])
    }
    case 'aside': {
      const kind = ALERT_KINDS.find((name) => name === properties.dataAlert)
      if (kind === undefined) return element('blockquote', {}, children)
      const title = element('p', { className: 'alert-title' }, [
        { type: 'text', value: rendering.texts.alert[kind] },
      ])
      const { dir } = properties
      return element('div', { className: `alert alert-${kind}`, role: 'note', dir }, [
        title,
        ...children,
      ])
    }
    case 'sup': {
      const number = properties.dataFootnote
      if (typeof number !== 'number') return element('sup', {}, children)
      const isKnown = properties.dataKnown === true
      return element('sup', {}, isKnown ? [footnoteMark(number, rendering)] : children)
    }
    case 'cite': {
      const { dataCitation: number } = properties
      return typeof number === 'number'
        ? citation(number, rendering)
        : element('span', {}, children)
    }
    case 'code': {
      if (hasClass(node, 'math-inline')) return formula(textOf(node), false)
      // Its block is what becomes the formula.
      if (hasClass(node, 'language-math')) return node
      const className = [properties.className].flat().find((name) => LANGUAGE.test(String(name)))
      if (className === undefined) return element('code', {}, children)
      return element('code', { className }, codePieces(node, String(className), rendering))
    }
    case 'pre': {
      const [code] = children
      if (code?.tagName !== 'code') return node
      if (hasClass(code, 'language-mermaid') && rendering.hasFrames)
        return diagram(node, textOf(code))
      if (!hasClass(code, 'language-math')) return codeBlock(children)
      return element('div', { className: 'formula', tabIndex: 0 }, [formula(textOf(code), true)])
    }
    // What may be wider than the page scrolls by itself, also with the keyboard.
    case 'table':
      return element('div', { className: 'wide', tabIndex: 0 }, [node])
    case 'input': {
      const label = properties.checked === true ? '✓' : '–'
      return element('input', { ...properties, ariaLabel: label }, [])
    }
    default:
      return node
  }
}

/** HTML in the text is shown as written. */
function finish(node: TreeNode, rendering: Rendering): TreeNode {
  if (node.type === 'raw') return { type: 'text', value: node.value ?? '' }
  if (node.children !== undefined)
    node.children = node.children.map((child) => finish(child, rendering))
  return node.type === 'element' ? finished(node, rendering) : node
}

function proseHtml(text: string, rendering: Rendering): string {
  const tree = fromMarkdown(text, {
    extensions: [gfm(GFM_OPTIONS), cjkEmphasis, math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  remarkPageSyntax({
    numbers: rendering.numbers,
    citations: Math.max(0, ...rendering.sources.keys()),
    quotes: false,
    keepsLines: true,
  })(tree)
  const drawn = toHast(tree, { allowDangerousHtml: true })
  rehypeShape()(drawn)
  finish(drawn, rendering)
  // Everything that is raw now was written by KaTeX.
  return toHtml(drawn, { allowDangerousHtml: true })
}

/** The text with its mathematics marked for the parser. Code stays as it is. */
function prepared(text: string): string {
  const source = lengthenMarks(text, false)
  return mayHoldMath(source) ? prepareMath(source) : source
}

/** A block of code with marks that nothing in it ends. */
function fenced({ code, language }: Extract<Block, { kind: 'code' }>): string {
  const mark = markFor(code)
  return `${mark}${language}\n${code}\n${mark}\n\n`
}

function directionAttribute(direction: ReturnType<typeof directionOfText>): string {
  return direction === undefined ? '' : ` dir="${direction}"`
}

function detailsHtml(
  block: Extract<Block, { kind: 'details' }>,
  rendering: Rendering,
  depth: number,
): string {
  const summary =
    block.summary === ''
      ? escapeHtml(rendering.texts.details)
      : proseHtml(prepared(block.summary), rendering)
  const content =
    depth < MAX_DETAILS_DEPTH
      ? blocksHtml(block.text, splitBlocks(block.text), rendering, depth + 1)
      : `<p class="said">${escapeHtml(block.text)}</p>`
  const direction = directionOfText(block.summary) ?? directionOfText(block.text)
  const attributes = directionAttribute(direction) + (block.open ? ' open' : '')
  return `<details${attributes}><summary>${summary}</summary>${content}</details>\n`
}

/** Adjacent blocks are parsed together, so that links find their definitions. */
function blocksHtml(
  text: string,
  blocks: readonly Block[],
  rendering: Rendering,
  depth: number,
): string {
  let html = ''
  let prose = ''
  const flush = (): void => {
    if (prose.trim() !== '') html += `${proseHtml(prose, rendering)}\n`
    prose = ''
  }
  blocks.forEach((block, index) => {
    const end = blocks[index + 1]?.start ?? text.length
    switch (block.kind) {
      case 'markdown':
        prose += prepared(block.text) + text.slice(block.start + block.text.length, end)
        break
      case 'code':
        prose += fenced(block)
        break
      case 'table':
        prose += `\n\n${block.text}\n\n`
        break
      case 'details':
        flush()
        html += detailsHtml(block, rendering, depth)
        break
      case 'footnote':
        flush()
        // Only the whole text lists its footnotes.
        if (depth > 0) html += `<p dir="auto">${escapeHtml(text.slice(block.start, end))}</p>\n`
    }
  })
  flush()
  return html
}

function footnotesHtml(list: readonly Footnote[], rendering: Rendering): string {
  if (list.length === 0) return ''
  const { texts, prefix } = rendering
  const items = list.map(({ number, text }) => {
    const back = `<a href="#${prefix}-mark-${number}" aria-label="${escapeHtml(texts.back)}">↩\uFE0E</a>`
    return `<li id="${prefix}-${number}" value="${number}">${proseHtml(prepared(text), rendering)} ${back}</li>`
  })
  return `<section class="footnotes" aria-label="${escapeHtml(texts.footnotes)}"><ol${directionAttribute(directionOfText(list[0]?.text ?? ''))}>${items.join('')}</ol></section>\n`
}

/** The words of the text's language, and what its document can show. */
interface MarkdownHtmlOptions {
  texts: ProseTexts
  hasFrames?: boolean
  sources?: readonly CitedSource[]
  colour?: ColourCode
}

/**
 * Safe HTML of a text: no scripts, images or HTML of its own. May take long, so call it where nothing else waits.
 * @throws RangeError if the text nests too deeply.
 */
export function markdownHtml(
  text: string,
  { texts, hasFrames = false, sources = [], colour = uncoloured }: MarkdownHtmlOptions,
): string {
  const source = text.replaceAll(/\r\n?/g, '\n')
  const blocks = splitBlocks(source)
  const { numbers, list } = numberFootnotes(source, blocks, false)
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const prefix = `note-${hash}`
  const rendering: Rendering = {
    texts,
    numbers,
    prefix,
    marked: new Set(),
    hasFrames,
    sources: new Map(sources.map((source) => [source.number, source])),
    colour,
  }
  const body = blocksHtml(source, blocks, rendering, 0)
  return body + footnotesHtml(list, rendering)
}
