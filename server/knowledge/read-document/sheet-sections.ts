// Extracts the cells of an XLSX workbook, one section per sheet: a row per line, cells separated by tabs.
import { type OfficeArchive, openOfficeArchive, readXml, referenceIn } from '../office-archive.ts'
import type { Section } from '../passage.ts'

const WORKBOOK = 'xl/workbook.xml'
const MAX_SHEETS = 500
const MAX_CHARACTERS = 50_000_000
/** The last column that a sheet can have, XFD. */
const MAX_COLUMNS = 16_384

/** A sheet: a row per line, cells separated by tabs. */
export interface Sheet {
  name: string
  text: string
}

/** Sections with the name of their sheet as heading and its number as page. @throws for damaged files. */
export const sheetSections = (bytes: Uint8Array): Section[] =>
  readSheets(bytes).flatMap(({ name, text }, index): Section[] =>
    text === '' ? [] : [{ heading: name === '' ? null : name, page: index + 1, text }],
  )

/** All sheets, in the order of the workbook. @throws for damaged files. */
export function readSheets(bytes: Uint8Array): Sheet[] {
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
      const path = name === 'sheet' ? targets.get(referenceIn(attributes)) : undefined
      if (path !== undefined && sheets.length < MAX_SHEETS)
        sheets.push({ name: attributes.name ?? '', path })
    },
  })
  const strings = sharedStrings(archive)
  const formats = numberFormats(archive)
  let characters = 0
  return sheets.map(({ name, path }) => {
    const text = rowsOf(archive.part(path) ?? '', { strings, formats, from1904 })
    characters += text.length
    if (characters > MAX_CHARACTERS) throw new Error('It holds too much text.')
    return { name, text }
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

/** How a number is shown: as a date or time, as hours that go on after 24, as percent, or with leading zeros. */
type NumberFormat = 'date' | 'duration' | 'percent' | { digits: number }

/**
 * Built-in formats (ECMA-376 part 1, 18.8.30): 14 to 22 and 45 to 47 everywhere, 27 to 36 and 50 to 58 in Chinese, Japanese and
 * Korean versions.
 */
const BUILT_IN_FORMATS: readonly (readonly [first: number, last: number, format: NumberFormat])[] =
  [
    [9, 10, 'percent'],
    [14, 22, 'date'],
    [27, 36, 'date'],
    [45, 45, 'date'],
    [46, 46, 'duration'],
    [47, 47, 'date'],
    [50, 58, 'date'],
  ]

/** The formats of the cell styles (`s` of a cell); a style without an entry shows plain numbers. */
function numberFormats(archive: OfficeArchive): Map<number, NumberFormat> {
  const formats = new Map<number, NumberFormat>()
  for (const [first, last, format] of BUILT_IN_FORMATS)
    for (let id = first; id <= last; id += 1) formats.set(id, format)
  const styles = new Map<number, NumberFormat>()
  let inCells = false
  let style = 0
  readXml(archive.part('xl/styles.xml') ?? '', {
    open(name, { numFmtId = '', formatCode = '' }) {
      const custom = name === 'numFmt' ? formatOf(formatCode) : undefined
      if (custom !== undefined) formats.set(Number(numFmtId), custom)
      if (name === 'cellXfs') inCells = true
      if (name === 'xf' && inCells) {
        const format = formats.get(Number(numFmtId))
        if (format !== undefined) styles.set(style, format)
        style += 1
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return styles
}

/** The format of a code such as `[h]:mm`, `yyyy-mm-dd`, `0.0%` or `00000`. */
function formatOf(code: string): NumberFormat | undefined {
  const shown = code.split(';')[0] ?? ''
  // Quoted text, colors and locales contain letters of dates, too.
  const bare = shown.replaceAll(/"[^"]*"|\\./g, '')
  if (/\[(?:h+|m+|s+)\]/i.test(bare)) return 'duration'
  const plain = bare.replaceAll(/\[[^\]]*\]/g, '')
  if (/[ymdhs]/i.test(plain.replaceAll(/general/gi, ''))) return 'date'
  if (plain.includes('%')) return 'percent'
  return /^0{2,20}$/.test(plain.trim()) ? { digits: plain.trim().length } : undefined
}

interface Workbook {
  strings: readonly string[]
  formats: ReadonlyMap<number, NumberFormat>
  from1904: boolean
}

/** A cell as its element says it. */
interface Cell {
  /** Column A is 1. */
  column: number
  type: string
  style: number
  value: string
  formula: string
}

const newCell = (column: number, type = 'n', style = 0): Cell => ({
  column,
  type,
  style,
  value: '',
  formula: '',
})

function rowsOf(xml: string, workbook: Workbook): string {
  const lines: string[] = []
  let cells: string[] = []
  let cell = newCell(0)
  /** The part of the cell that the text belongs to. */
  let part: 'value' | 'formula' | null = null
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        cells = []
        cell = newCell(0)
      }
      if (name === 'c')
        cell = newCell(
          columnOf(attributes.r) ?? cell.column + 1,
          attributes.t,
          Number(attributes.s ?? 0),
        )
      part = name === 'v' || name === 't' ? 'value' : name === 'f' ? 'formula' : null
    },
    text(piece) {
      if (part !== null) cell[part] += piece
    },
    close(name) {
      part = null
      if (name === 'c' && cell.column <= MAX_COLUMNS) {
        while (cells.length < cell.column - 1) cells.push('')
        const { value, formula, type, style } = cell
        // Programs other than spreadsheets write formulas without their results.
        cells[cell.column - 1] =
          value === '' && formula !== '' ? `=${formula}` : shown(value, type, style, workbook)
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
  const format = type === 'n' && value !== '' ? workbook.formats.get(style) : undefined
  const number = Number(value)
  if (format === undefined || !Number.isFinite(number)) return oneLine(value)
  if (format === 'date') return dateText(number, workbook.from1904)
  if (format === 'duration') return durationText(number)
  // Twelve digits hide the errors of binary fractions.
  if (format === 'percent') return `${Number((number * 100).toPrecision(12))}%`
  return Number.isInteger(number) && number >= 0
    ? String(number).padStart(format.digits, '0')
    : oneLine(value)
}

const DAY_MS = 24 * 60 * 60 * 1000

/** A serial number of days as ISO date, time, or both. */
function dateText(serial: number, from1904: boolean): string {
  // The format counts a 29 February 1900 that never was, as day 60: the days after it count from 1899-12-30.
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30)
  const moment = new Date(start + Math.round(serial * DAY_MS))
  if (Number.isNaN(moment.getTime())) return String(serial)
  const iso = moment.toISOString()
  if (serial >= 0 && serial < 1) return iso.slice(11, 19)
  return Number.isInteger(serial) ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}

/** A number of days as hours, minutes and, unless they are zero, seconds. */
function durationText(days: number): string {
  const seconds = Math.round(Math.abs(days) * 24 * 60 * 60)
  const two = (part: number): string => String(part).padStart(2, '0')
  const text = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}`
  return `${days < 0 ? '-' : ''}${text}${seconds % 60 === 0 ? '' : `:${two(seconds % 60)}`}`
}
