// Builds small Office documents for tests.
import { strToU8, zipSync } from 'fflate'

/** An Office document with these parts. */
export const officeArchive = (parts: Record<string, string>): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(parts).map(([path, xml]) => [path, strToU8(xml)]))),
  )

const relations = (targets: readonly string[]): string =>
  `<Relationships>${targets.map((target, at) => `<Relationship Id="r${at}" Target="${target}"/>`).join('')}</Relationships>`

/** A presentation whose slides are stored in reverse of the order in which they are shown. */
export const presentation = (slides: readonly string[]): Buffer =>
  officeArchive({
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${slides.map((_, at) => `<p:sldId r:id="r${at}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      slides.map((_, at) => `slides/slide${slides.length - at}.xml`),
    ),
    ...Object.fromEntries(
      slides.map((text, at) => [
        `ppt/slides/slide${slides.length - at}.xml`,
        `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p><a:p><a:r><a:t>second line</a:t></a:r></a:p></p:sld>`,
      ]),
    ),
  })

/** A workbook with one sheet of raw XML rows; style 1 is a date. */
export const workbook = (rows: string, strings: readonly string[] = []): Buffer =>
  officeArchive({
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="Sales &amp; more" r:id="r0"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations(['worksheets/sheet1.xml']),
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/styles.xml':
      '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  })

/** A zip bomb: an archive whose single entry expands to `bytes`. */
export const bombed = (path: string, bytes: number): Buffer =>
  Buffer.from(zipSync({ [path]: new Uint8Array(bytes) }, { level: 9 }))

const pageNumber = (index: number): number => 4 + 2 * index

/** A PDF with one page per line; an empty line makes a page without text. */
export function pdfOf(...lines: readonly string[]): Buffer {
  const kids = lines.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${lines.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...lines.flatMap((line, index) => {
      const stream = line === '' ? '' : `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${pageNumber(index) + 1} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`,
        `<</Length ${stream.length}>>\nstream\n${stream}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const start = text.length
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`
  return Buffer.from(text, 'latin1')
}
