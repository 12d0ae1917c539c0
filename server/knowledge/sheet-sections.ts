// Extracts the cells of an XLSX workbook, one section per sheet: a row per line, cells separated by tabs.
import { type OfficeArchive, openOfficeArchive, readXml } from './office-archive.ts'
import type { Section } from './passage.ts'

const WORKBOOK = 'xl/workbook.xml'
const MAX_SHEETS = 500
const MAX_CHARACTERS = 50_000_000
/** The last column that a sheet can have, XFD. */
const MAX_COLUMNS = 16_384

/** Sections with the name of their sheet as heading and its number as page. @throws for damaged files. */
export function sheetSections(bytes: Uint8Array): Section[] {
  const archive = openOfficeArchive(
    bytes,
    (path) => /^xl\/(_rels\/)?[^/]+$/.test(path) || /^xl\/worksheets\/[^/]+\.xml$/.test(path),
  )
  const workbook = archive.part(WORKBOOK)
  if (workbook === undefined) throw new Error('It has no workbook.')
  const targets = archive.targets(WORKBOOK)
  const sheets: { name: string; path: string }[] = []
  let from1904 = false
  readXml(workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = isTrue(attributes.date1904)
      const path = name === 'sheet' ? targets.get(attributes['r:id'] ?? '') : undefined
      if (path !== undefined && sheets.length < MAX_SHEETS)
        sheets.push({ name: attributes.name ?? '', path })
    },
  })
  const strings = sharedStrings(archive)
  const dates = dateStyles(archive)
  let characters = 0
  return sheets.flatMap(({ name, path }, index): Section[] => {
    const text = rowsOf(archive.part(path) ?? '', { strings, dates, from1904 })
    characters += text.length
    if (characters > MAX_CHARACTERS) throw new Error('It holds too much text.')
    return text === '' ? [] : [{ heading: name === '' ? null : name, page: index + 1, text }]
  })
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true'

/** Texts that cells refer to by number. Phonetic hints (`rPh`) are no part of a text. */
function sharedStrings(archive: OfficeArchive): string[] {
  const strings: string[] = []
  let current = ''
  let inText = false
  let inHint = false
  readXml(archive.part('xl/sharedStrings.xml') ?? '', {
    open(name) {
      if (name === 'si') current = ''
      if (name === 'rPh') inHint = true
      inText = name === 't' && !inHint
    },
    text(piece) {
      if (inText) current += piece
    },
    close(name) {
      if (name === 't') inText = false
      if (name === 'rPh') inHint = false
      if (name === 'si') strings.push(current)
    },
  })
  return strings
}

/** The cell styles (`s` of a cell) whose number format shows a date or a time. */
function dateStyles(archive: OfficeArchive): Set<number> {
  // Built-in formats: 14 to 22 and 45 to 47 (ECMA-376 part 1, 18.8.30).
  const formats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
  const styles = new Set<number>()
  let inCells = false
  let style = 0
  readXml(archive.part('xl/styles.xml') ?? '', {
    open(name, { numFmtId = '', formatCode = '' }) {
      // Quoted text and colors contain letters of dates, too.
      const code = formatCode.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, '')
      if (name === 'numFmt' && /[ymdhs]/i.test(code)) formats.add(Number(numFmtId))
      if (name === 'cellXfs') inCells = true
      if (name === 'xf' && inCells) {
        if (formats.has(Number(numFmtId))) styles.add(style)
        style += 1
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return styles
}

interface Workbook {
  strings: readonly string[]
  dates: ReadonlySet<number>
  from1904: boolean
}

function rowsOf(xml: string, workbook: Workbook): string {
  const lines: string[] = []
  let cells: string[] = []
  let column = 0
  let type = ''
  let style = 0
  let value = ''
  let inValue = false
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        cells = []
        column = 0
      }
      if (name === 'c') {
        column = columnOf(attributes.r) ?? column + 1
        type = attributes.t ?? 'n'
        style = Number(attributes.s ?? 0)
        value = ''
      }
      inValue = name === 'v' || name === 't'
    },
    text(piece) {
      if (inValue) value += piece
    },
    close(name) {
      inValue = false
      if (name === 'c' && column <= MAX_COLUMNS) {
        while (cells.length < column - 1) cells.push('')
        cells[column - 1] = shown(value, type, style, workbook)
      }
      if (name !== 'row') return
      const line = cells.join('\t').trimEnd()
      if (line !== '') lines.push(line)
    },
  })
  return lines.join('\n')
}

/** Column A is 1. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}

function shown(value: string, type: string, style: number, workbook: Workbook): string {
  const oneLine = (text: string): string => text.replaceAll(/[\t\r\n]+/g, ' ')
  if (type === 's') return oneLine(workbook.strings[Number(value)] ?? '')
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'n' && value !== '' && workbook.dates.has(style))
    return dateText(Number(value), workbook.from1904)
  return oneLine(value)
}

const DAY_MS = 24 * 60 * 60 * 1000

/** A serial number of days as ISO date, time, or both. */
function dateText(serial: number, from1904: boolean): string {
  // Day 0 is 1899-12-30, because the format counts a 29 February 1900 that never was.
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30)
  const moment = new Date(start + Math.round(serial * DAY_MS))
  if (Number.isNaN(moment.getTime())) return String(serial)
  const iso = moment.toISOString()
  if (serial >= 0 && serial < 1) return iso.slice(11, 19)
  return Number.isInteger(serial) ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}
