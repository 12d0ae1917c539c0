// Extracts the text of a PPTX presentation, one section per slide, in the order of the presentation.
import { type OfficeArchive, openOfficeArchive, readXml, referenceIn } from '../office-archive.ts'
import type { Section } from '../passage.ts'

const PRESENTATION = 'ppt/presentation.xml'
const MAX_SLIDES = 5_000

/** What a slide shows, a paragraph per line, and what its speaker says. */
export interface Slide {
  text: string
  notes: string
}

/** Sections with the number of their slide as page. @throws for damaged files. */
export const slideSections = (bytes: Uint8Array): Section[] =>
  readSlides(bytes).flatMap(({ text: shown, notes }, index): Section[] => {
    const text = [shown, ...(notes === '' ? [] : [`Notes: ${notes}`])].join('\n').trim()
    return text === '' ? [] : [{ heading: null, page: index + 1, text }]
  })

/** All slides, in the order of the presentation. @throws for damaged files. */
export function readSlides(bytes: Uint8Array): Slide[] {
  const archive = openOfficeArchive(
    bytes,
    (path) =>
      path === PRESENTATION ||
      path === 'ppt/_rels/presentation.xml.rels' ||
      /^ppt\/slides\/(?:_rels\/)?[^/]+$/.test(path) ||
      /^ppt\/notesSlides\/[^/]+\.xml$/.test(path),
  )
  const presentation = archive.part(PRESENTATION)
  if (presentation === undefined) throw new Error('It has no presentation.')
  const targets = archive.targets(PRESENTATION)
  const slides: string[] = []
  readXml(presentation, {
    open(name, attributes) {
      const path = name === 'sldId' ? targets.get(referenceIn(attributes)) : undefined
      if (path !== undefined && slides.length < MAX_SLIDES) slides.push(path)
    },
  })
  return slides.map((path) => ({
    text: paragraphsOf(archive.part(path) ?? ''),
    notes: notesOf(archive, path),
  }))
}

/** What the speaker says with the slide. */
function notesOf(archive: OfficeArchive, slide: string): string {
  for (const path of archive.targets(slide).values())
    if (path.startsWith('ppt/notesSlides/')) return paragraphsOf(archive.part(path) ?? '', true)
  return ''
}

/** Placeholders of notes with other content than the notes: the number of the slide, its picture, the date, headers and footers. */
const NO_NOTES = new Set(['sldNum', 'sldImg', 'dt', 'hdr', 'ftr'])

/**
 * The paragraphs (`a:p`) of a slide, each on a line of its own, and the rows of its tables, cells separated by ` | `.
 * `isNotes`: only what was written as notes.
 */
function paragraphsOf(xml: string, isNotes = false): string {
  let text = ''
  /** The cells of the open row; null outside of tables. */
  let cells: string[] | null = null
  let inText = false
  let isLeftOut = false
  const add = (piece: string): void => {
    if (isLeftOut) return
    if (cells === null) text += piece
    else cells.push(`${cells.pop() ?? ''}${/^[\n\t]$/.test(piece) ? ' ' : piece}`)
  }
  readXml(xml, {
    open(name, attributes) {
      if (name === 'sp') isLeftOut = false
      if (name === 'ph' && isNotes) isLeftOut = NO_NOTES.has(attributes.type ?? '')
      if (name === 'tr') cells = []
      if (name === 'tc') cells?.push('')
      if (name === 't') inText = true
      if (name === 'br' || name === 'tab') add(name === 'br' ? '\n' : '\t')
    },
    text(piece) {
      if (inText) add(piece)
    },
    close(name) {
      if (name === 't') inText = false
      if (name === 'p') add('\n')
      if (name === 'tr' && cells !== null) {
        text += `${cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()).join(' | ')}\n`
        cells = null
      }
    },
  })
  return text.replaceAll(/\n{2,}/g, '\n').trim()
}
