// Extracts the text of a PPTX presentation, one section per slide, in the order of the presentation.
import { openOfficeArchive, readXml } from './office-archive.ts'
import type { Section } from './passage.ts'

const PRESENTATION = 'ppt/presentation.xml'
const MAX_SLIDES = 5_000

/** Sections with the number of their slide as page. @throws for damaged files. */
export function slideSections(bytes: Uint8Array): Section[] {
  const archive = openOfficeArchive(
    bytes,
    (path) =>
      path === PRESENTATION ||
      path === 'ppt/_rels/presentation.xml.rels' ||
      /^ppt\/slides\/[^/]+\.xml$/.test(path),
  )
  const presentation = archive.part(PRESENTATION)
  if (presentation === undefined) throw new Error('It has no presentation.')
  const targets = archive.targets(PRESENTATION)
  const slides: string[] = []
  readXml(presentation, {
    open(name, attributes) {
      const path = name === 'sldId' ? targets.get(attributes['r:id'] ?? '') : undefined
      if (path !== undefined && slides.length < MAX_SLIDES) slides.push(path)
    },
  })
  return slides.flatMap((path, index): Section[] => {
    const text = paragraphsOf(archive.part(path) ?? '')
    return text === '' ? [] : [{ heading: null, page: index + 1, text }]
  })
}

/** The paragraphs (`a:p`) of a slide, each on a line of its own. */
function paragraphsOf(xml: string): string {
  let text = ''
  let inText = false
  readXml(xml, {
    open(name) {
      if (name === 't') inText = true
      if (name === 'br' || name === 'tab') text += name === 'br' ? '\n' : '\t'
    },
    text(piece) {
      if (inText) text += piece
    },
    close(name) {
      if (name === 't') inText = false
      if (name === 'p') text += '\n'
    },
  })
  return text.replaceAll(/\n{2,}/g, '\n').trim()
}
