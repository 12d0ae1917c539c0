// Extracts the text of a DOCX document: headings, paragraphs, lists, tables, notes, comments, headers and footers, formulas.
import { strToU8, zipSync } from 'fflate'
import { parseDocument } from 'htmlparser2'
import mammoth from 'mammoth'
import {
  isWordBody,
  type OfficeArchive,
  openOfficeArchive,
  readXml,
  referenceIn,
} from '../office-archive.ts'
import type { Section } from '../passage.ts'
import { htmlToSections } from './html-sections.ts'

// Writes the formulas of Word documents (Office Math) as text in the syntax of TeX.

/** The part of a parsed element that is read here. */
interface Node {
  readonly type: string
  readonly name?: string
  readonly data?: string
  readonly attribs?: Record<string, string>
  readonly children?: readonly Node[]
}

/** Deeper formulas are written without their structure. */
const MAX_DEPTH = 100
const ACCENTS: Readonly<Record<string, string>> = {
  '\u0302': 'hat',
  '\u0303': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'overline',
  '\u0307': 'dot',
  '\u0308': 'ddot',
  '\u20d7': 'vec',
}

/** The formula in the XML of an `m:oMath`, such as `E=mc^{2}`. */
export function formulaText(xml: string): string {
  return inside(parseDocument(xml, { xmlMode: true, decodeEntities: true }), 0)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const nameOf = ({ name = '' }: Node): string => name.slice(name.indexOf(':') + 1)

const inside = (node: Node | undefined, depth: number): string =>
  (node?.children ?? []).map((child) => written(child, depth + 1)).join('')

const childOf = (node: Node, name: string): Node | undefined =>
  node.children?.find((child) => nameOf(child) === name)

const childrenOf = (node: Node, name: string): Node[] =>
  (node.children ?? []).filter((child) => nameOf(child) === name)

/** The value of a property of an element, such as the character of a sum. */
function property(node: Node, properties: string, name: string): string | undefined {
  const found = childOf(node, properties)
  const attributes = found === undefined ? undefined : childOf(found, name)?.attribs
  return Object.entries(attributes ?? {}).find(([key]) => key.endsWith('val'))?.[1]
}

function written(node: Node, depth: number): string {
  const name = nameOf(node)
  if (name.endsWith('Pr')) return ''
  if (name === 't') return (node.children ?? []).map(({ data = '' }) => data).join('')
  if (node.type === 'text') return ''
  const part = (child: string): string => inside(childOf(node, child), depth)
  const script = (mark: '^' | '_', child: string): string => {
    const text = part(child)
    return text === '' ? '' : `${mark}{${text}}`
  }
  if (depth > MAX_DEPTH) return inside(node, depth)
  switch (name) {
    case 'f':
      return `\\frac{${part('num')}}{${part('den')}}`
    case 'sSup':
      return `${part('e')}${script('^', 'sup')}`
    case 'sSub':
      return `${part('e')}${script('_', 'sub')}`
    case 'sSubSup':
      return `${part('e')}${script('_', 'sub')}${script('^', 'sup')}`
    case 'sPre':
      return `{}${script('_', 'sub')}${script('^', 'sup')}${part('e')}`
    case 'rad': {
      const degree = part('deg')
      return `\\sqrt${degree === '' ? '' : `[${degree}]`}{${part('e')}}`
    }
    case 'nary': {
      const sign = property(node, 'naryPr', 'chr') ?? '∫'
      return `${sign}${script('_', 'sub')}${script('^', 'sup')} ${part('e')}`
    }
    case 'd': {
      const [begin, end] = ['begChr', 'endChr'].map((key) => property(node, 'dPr', key))
      const parts = childrenOf(node, 'e').map((child) => inside(child, depth))
      return `${begin ?? '('}${parts.join(property(node, 'dPr', 'sepChr') ?? '|')}${end ?? ')'}`
    }
    case 'func':
      return `${part('fName')} ${part('e')}`
    case 'limLow':
      return `${part('e')}_{${part('lim')}}`
    case 'limUpp':
      return `${part('e')}^{${part('lim')}}`
    case 'acc':
      return `\\${ACCENTS[property(node, 'accPr', 'chr') ?? '\u0302'] ?? 'hat'}{${part('e')}}`
    case 'bar':
      return `\\${property(node, 'barPr', 'pos') === 'top' ? 'over' : 'under'}line{${part('e')}}`
    case 'm': {
      const rows = childrenOf(node, 'mr').map((row) =>
        childrenOf(row, 'e')
          .map((cell) => inside(cell, depth))
          .join(' & '),
      )
      return `\\begin{matrix} ${rows.join(' \\\\ ')} \\end{matrix}`
    }
    case 'eqArr':
      return childrenOf(node, 'e')
        .map((line) => inside(line, depth))
        .join(' \\\\ ')
    default:
      return inside(node, depth)
  }
}

const NOTES = new Set(['word/footnotes.xml', 'word/endnotes.xml', 'word/comments.xml'])

/** Sections with their headings. @throws for damaged files. */
export const docxSections = async (bytes: Uint8Array): Promise<Section[]> =>
  htmlToSections(await docxHtml(bytes))

/** The document as HTML, without pictures. The text of the document can form any HTML. @throws for damaged files. */
export async function docxHtml(bytes: Uint8Array): Promise<string> {
  // Without pictures and fonts, which make up most of a file.
  const archive = openOfficeArchive(bytes, (path) => /\.(?:xml|rels)$/.test(path))
  const parts = Object.fromEntries(archive.entries())
  for (const path of Object.keys(parts)) {
    const isBody = isWordBody(path)
    if (!isBody && !NOTES.has(path)) continue
    const readable = withoutUnknownFrames(withFormulas(archive.part(path) ?? ''))
    parts[path] = strToU8(isBody ? withHeadersAndFooters(readable, archive, path) : readable)
  }
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(zipSync(parts, { level: 0 })) },
    {
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      styleMap: ['comment-reference => sup'],
    },
  )
  return withoutInnerLinks(value)
}

/** Notes and comments keep their numbers but not the links between these and their texts. */
const withoutInnerLinks = (html: string): string =>
  html
    .replaceAll(/<a href="#(?:footnote|endnote|comment)-ref-[^"]{0,100}">↑<\/a>/g, '')
    .replaceAll(
      /<a href="#(?:footnote|endnote|comment)-[^"]{0,100}"[^>]{0,200}>([^<]{0,100})<\/a>/g,
      '$1',
    )

/** The prefix of WordprocessingML in a part, `w:` in all usual files. */
const prefixOf = (part: string): string =>
  /<(\w+:)?(?:document|footnotes|endnotes|comments)[\s>]/.exec(part.slice(0, 20_000))?.[1] ?? ''

const run = (prefix: string, text: string): string =>
  `<${prefix}r><${prefix}t xml:space="preserve">${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${prefix}t></${prefix}r>`

/** Replaces formulas (Office Math, ECMA-376 part 1, 22.1), which mammoth leaves out, with text. */
function withFormulas(document: string): string {
  const prefix = prefixOf(document)
  return document
    .replaceAll(/<(\w+):oMathParaPr(?:\s[^>]*)?(?:\/>|>[\s\S]*?<\/\1:oMathParaPr>)/g, '')
    .replaceAll(/<(\w+):oMath(?:\s[^>]*)?>([\s\S]*?)<\/\1:oMath>/g, (formula) =>
      run(prefix, `$${formulaText(formula)}$`),
    )
    .replaceAll(/<\/?\w+:oMathPara(?:\s[^>]*)?>/g, '')
}

/**
 * Removes elements around text with which mammoth would leave out the text, too: simple fields (of mail merge, captions), runs of
 * another direction, and ruby (ECMA-376 part 1, 17.3.3.25), of which only the reading above the characters is left out.
 */
function withoutUnknownFrames(part: string): string {
  const prefix = prefixOf(part)
  const reading = new RegExp(`<${prefix}(rt|rubyPr)(?:\\s[^>]*)?>[\\s\\S]*?</${prefix}\\1>`, 'g')
  const frame = new RegExp(`</?${prefix}(?:fldSimple|dir|bdo|ruby|rubyBase)(?:\\s[^>]*)?>`, 'g')
  return part.replaceAll(reading, '').replaceAll(frame, '')
}

/** Puts the texts of the headers before the body and those of the footers behind it, each once. */
function withHeadersAndFooters(document: string, archive: OfficeArchive, path: string): string {
  const prefix = prefixOf(document)
  const targets = archive.targets(path)
  const texts = { header: new Set<string>(), footer: new Set<string>() }
  readXml(document, {
    open(name, attributes) {
      if (name !== 'headerReference' && name !== 'footerReference') return
      const part = archive.part(targets.get(referenceIn(attributes)) ?? '')
      const found = part === undefined ? [] : paragraphsOf(part)
      for (const text of found) texts[name === 'headerReference' ? 'header' : 'footer'].add(text)
    },
  })
  const paragraphs = (found: ReadonlySet<string>): string =>
    [...found].map((text) => `<${prefix}p>${run(prefix, text)}</${prefix}p>`).join('')
  const start = new RegExp(`<${prefix}body(?:\\s[^>]*)?>`).exec(document)
  const end = document.lastIndexOf(`</${prefix}body>`)
  if (start === null || end === -1) return document
  const from = start.index + start[0].length
  return `${document.slice(0, from)}${paragraphs(texts.header)}${document.slice(from, end)}${paragraphs(texts.footer)}${document.slice(end)}`
}

/** The texts of paragraphs, without numbers of pages alone and what a text box repeats for old programs. */
function paragraphsOf(xml: string): string[] {
  const paragraphs: string[] = []
  let text = ''
  let inText = false
  let repeated = 0
  readXml(xml, {
    open(name) {
      if (name === 'Fallback') repeated += 1
      inText = name === 't' && repeated === 0
      if (name === 'tab' || name === 'br') text += ' '
    },
    text(piece) {
      if (inText) text += piece
    },
    close(name) {
      inText = false
      if (name === 'Fallback') repeated -= 1
      if (name !== 'p') return
      const line = text.replaceAll(/\s+/g, ' ').trim()
      text = ''
      if (/\p{L}/u.test(line) || /\d{4}/.test(line)) paragraphs.push(line)
    },
  })
  return paragraphs
}
