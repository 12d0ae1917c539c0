// Extracts the text of a DOCX document: headings, paragraphs, lists, tables, notes, comments, headers and footers, formulas.
import { strToU8, zipSync } from 'fflate'
import mammoth from 'mammoth'
import { htmlToSections } from './html-sections.ts'
import {
  isWordBody,
  type OfficeArchive,
  openOfficeArchive,
  readXml,
  referenceIn,
} from './office-archive.ts'
import type { Section } from './passage.ts'
import { formulaText } from './word-formula.ts'

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
