// Extracts the text of a DOCX document: headings, paragraphs, lists, tables, notes, comments, headers and footers, formulas.
import { strToU8, zipSync } from 'fflate'
import mammoth from 'mammoth'
import { htmlToSections } from './html-sections.ts'
import { type OfficeArchive, openOfficeArchive, readXml } from './office-archive.ts'
import type { Section } from './passage.ts'
import { formulaText } from './word-formula.ts'

const DOCUMENT = 'word/document.xml'

/** Sections with their headings. @throws for damaged files. */
export const docxSections = async (bytes: Uint8Array): Promise<Section[]> =>
  htmlToSections(await docxHtml(bytes))

/** The document as HTML, without pictures. The text of the document can form any HTML. @throws for damaged files. */
export async function docxHtml(bytes: Uint8Array): Promise<string> {
  // Without pictures and fonts, which make up most of a file.
  const archive = openOfficeArchive(bytes, (path) => /\.(?:xml|rels)$/.test(path))
  const document = archive.part(DOCUMENT)
  const parts = Object.fromEntries(archive.entries())
  if (document !== undefined)
    parts[DOCUMENT] = strToU8(withHeadersAndFooters(withFormulas(document), archive))
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

/** The prefix of WordprocessingML in the document, `w:` in all usual files. */
const prefixOf = (document: string): string =>
  /<(\w+:)?document[\s>]/.exec(document.slice(0, 20_000))?.[1] ?? ''

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

/** Puts the texts of the headers before the body and those of the footers behind it, each once. */
function withHeadersAndFooters(document: string, archive: OfficeArchive): string {
  const prefix = prefixOf(document)
  const targets = archive.targets(DOCUMENT)
  const texts = { header: new Set<string>(), footer: new Set<string>() }
  readXml(document, {
    open(name, attributes) {
      if (name !== 'headerReference' && name !== 'footerReference') return
      const id = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? ''
      const part = archive.part(targets.get(id) ?? '')
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
