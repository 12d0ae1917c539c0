// Builds small Office documents for tests.
import { strToU8, zipSync } from 'fflate'

const archive = (parts: Record<string, string>): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(parts).map(([path, xml]) => [path, strToU8(xml)]))),
  )

const relations = (targets: readonly string[]): string =>
  `<Relationships>${targets.map((target, at) => `<Relationship Id="r${at}" Target="${target}"/>`).join('')}</Relationships>`

/** A presentation whose slides are stored in reverse of the order in which they are shown. */
export const presentation = (slides: readonly string[]): Buffer =>
  archive({
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
  archive({
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
