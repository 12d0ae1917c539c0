// Reads the pages of a PDF: lines of text, values of forms, comments; says which pages hold no text that can be read.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { getDocumentProxy } from 'unpdf'
import { z } from 'zod'

/** A line of a page. */
export interface PdfLine {
  text: string
  /** Type size in points. */
  size: number
  /** Distance of the baseline from the bottom of the page. */
  y: number
}

/** The text of one page. */
export interface PdfPage {
  lines: PdfLine[]
  /** What a person typed or chose in the fields of a form, and comments, a line each. */
  additions: string[]
  /**
   * `picture`: there is no text at all, as on scanned pages. `letters`: most characters have no meaning, because the fonts do
   * not say which letters they draw.
   */
  unreadable: 'picture' | 'letters' | null
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>
type PdfPageProxy = Awaited<ReturnType<Pdf['getPage']>>
type TextItem = Extract<
  Awaited<ReturnType<PdfPageProxy['getTextContent']>>['items'][number],
  { str: string }
>

/** A larger share of characters without a meaning means that the text of a page is not what it shows. */
const MAX_STRANGE_SHARE = 0.15
const MAX_ADDITIONS = 2_000
const MAX_ADDITION_CHARACTERS = 20_000

/** Pairs of a radical (Unicode block 2E80) and the character it stands for. */
const RADICALS =
  '⺁厂⺇几⺌小⺍小⺎兀⺏尣⺐尢⺑尢⺒巳⺓幺⺛旡⺝月⺟母⺠民⺫目⺬示⺭礻⺰纟⺲罒⺳冈⺴冈⺶羊⺷羊⺸羊⺼肉⻁虎⻂衤⻃覀⻄西⻅见⻆角⻇角⻈讠⻉贝⻋车⻐钅⻑長⻒镸⻓长⻔门⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻡首⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟'

/** Thrown for a form in the XFA format of Adobe: its pages only say that another program is needed. */
export class XfaForm extends Error {
  override readonly name = 'XfaForm'
}

/** What pdf.js says about the forms of a file. */
const FormInfo = z.object({ IsXFAPresent: z.boolean(), IsAcroFormPresent: z.boolean() })

/** Whether the file has no content but XFA. A form that is also an ordinary one has pages with text. */
async function isOnlyXfa(pdf: Pdf): Promise<boolean> {
  const { info } = await pdf.getMetadata()
  const { data } = FormInfo.safeParse(info)
  return data?.IsXFAPresent === true && !data.IsAcroFormPresent
}

/**
 * Reads all pages, one after the other; `bytes` are empty afterwards. Slow and partly synchronous: only call it in a child
 * process or a worker thread. Throws when the file is damaged, protected by a password (`PasswordException`), only a form in XFA
 * (`XfaForm`) or has more than `maxPages`.
 */
export async function readPdfPages(bytes: Uint8Array, maxPages: number): Promise<PdfPage[]> {
  const pdf = await getDocumentProxy(bytes, {
    isEvalSupported: false,
    verbosity: 0,
    // Fonts of Chinese, Japanese and Korean documents that are not embedded name a predefined CMap, which maps their codes.
    cMapUrl: 'cmaps/',
    cMapPacked: true,
    useWorkerFetch: false,
    BinaryDataFactory: CMapFiles,
  })
  try {
    if (pdf.numPages > maxPages) throw new Error(`it has more than ${maxPages} pages`)
    if (await isOnlyXfa(pdf)) throw new XfaForm('it is a form in XFA')
    const pages: PdfPage[] = []
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number)
      pages.push(await readPage(page))
      page.cleanup()
    }
    return pages
  } finally {
    await pdf.destroy()
  }
}

async function readPage(page: PdfPageProxy): Promise<PdfPage> {
  const { items } = await page.getTextContent()
  const lines = linesOf(items.filter((item) => 'str' in item))
  const additions = additionsOf(await page.getAnnotations())
  const text = lines.map((line) => line.text).join('')
  const strange = text.match(/[\p{Cc}\p{Co}\p{Cn}\ufffd]/gu)?.length ?? 0
  const unreadable =
    text === '' && additions.length === 0
      ? 'picture'
      : strange > text.length * MAX_STRANGE_SHARE
        ? 'letters'
        : null
  return { lines, additions, unreadable }
}

/** The lines of a page with its additions, as a reader of plain text sees them. */
export const pdfPageText = ({ lines, additions }: PdfPage): string =>
  [...lines.map(({ text }) => text), ...additions].join('\n')

/** What a model reads in place of the text of an unreadable page; null for the others. */
export function unreadableNote({ unreadable }: PdfPage): string | null {
  if (unreadable === 'picture')
    return '[No text could be read from this page. It may be a picture.]'
  if (unreadable === 'letters')
    return '[The fonts of this page do not say which letters they draw: its text may be wrong.]'
  return null
}

/** Numbers of pages as people write them: `1, 3-5`. */
export function pageRanges(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const number of numbers) {
    const open = ranges.at(-1)
    if (open !== undefined && open[1] === number - 1) open[1] = number
    else ranges.push([number, number])
  }
  return ranges
    .map(([first, last]) => (first === last ? String(first) : `${first}-${last}`))
    .join(', ')
}

/** Gives pdf.js the CMaps from disk; it knows the names of all of them. A class, because pdf.js constructs it. */
class CMapFiles {
  // pdf.js looks at this field before it asks.
  readonly cMapUrl: string | null
  constructor({ cMapUrl }: { cMapUrl: string | null }) {
    this.cMapUrl = cMapUrl
  }
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== 'cMapUrl' || !/^[\w-]+\.bcmap$/.test(filename))
      throw new Error(`There is no ${filename}.`)
    return new Uint8Array(await readFile(fileURLToPath(new URL(filename, CMAPS))))
  }
}

/**
 * The binary CMaps of pdf.js 5.6.205, which `unpdf` contains (package `pdfjs-dist`; licence beside them). From the sources they
 * are next to this file; the build copies them.
 */
const CMAPS = new URL('./cmaps/', import.meta.url)

/** The fields of annotations that are read (PDF 32000-1, 12.5 and 12.7); pdf.js declares them as `any`. */
const Annotation = z.object({
  subtype: z.string(),
  hidden: z.boolean().optional().catch(undefined),
  fieldName: z.string().optional().catch(undefined),
  alternativeText: z.string().optional().catch(undefined),
  fieldType: z.string().optional().catch(undefined),
  fieldValue: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  password: z.boolean().optional().catch(undefined),
  radioButton: z.boolean().optional().catch(undefined),
  checkBox: z.boolean().optional().catch(undefined),
  exportValue: z.string().optional().catch(undefined),
  buttonValue: z.string().nullish().catch(undefined),
  options: z
    .array(z.object({ exportValue: z.string(), displayValue: z.string() }))
    .optional()
    .catch(undefined),
  contentsObj: z.object({ str: z.string() }).optional().catch(undefined),
})
type Annotation = z.infer<typeof Annotation>

function additionsOf(annotations: readonly unknown[]): string[] {
  const additions = new Set<string>()
  for (const candidate of annotations) {
    const read = Annotation.safeParse(candidate)
    if (!read.success || read.data.hidden === true) continue
    const addition = read.data.subtype === 'Widget' ? fieldText(read.data) : commentText(read.data)
    if (addition !== null) additions.add(addition.slice(0, MAX_ADDITION_CHARACTERS))
    if (additions.size >= MAX_ADDITIONS) break
  }
  return [...additions]
}

/** A field with its value; null for fields without one, and for what nobody is meant to read. */
function fieldText(field: Annotation): string | null {
  const value = field.fieldType === 'Btn' ? buttonText(field) : chosenText(field)
  if (value === '' || field.password === true || field.fieldType === 'Sig') return null
  return `${field.alternativeText || field.fieldName || 'Field'}: ${value}`
}

function buttonText({
  fieldValue,
  checkBox,
  radioButton,
  exportValue,
  buttonValue,
}: Annotation): string {
  if (typeof fieldValue !== 'string' || fieldValue === '') return ''
  if (radioButton === true)
    return fieldValue !== 'Off' && fieldValue === buttonValue ? fieldValue : ''
  if (checkBox !== true) return ''
  const ticked = exportValue === undefined ? fieldValue !== 'Off' : fieldValue === exportValue
  return ticked ? 'yes' : 'no'
}

function chosenText({ fieldValue = '', options = [] }: Annotation): string {
  const values = typeof fieldValue === 'string' ? [fieldValue] : fieldValue
  const shown = new Map(options.map((option) => [option.exportValue, option.displayValue]))
  return values
    .map((value) => shown.get(value) ?? value)
    .join(', ')
    .replaceAll(/\r\n?/g, '\n')
    .trim()
}

/** Text that somebody wrote on the page; links and pop-ups hold none of their own. */
function commentText({ subtype, contentsObj }: Annotation): string | null {
  const text = contentsObj?.str.replaceAll(/\r\n?/g, '\n').trim() ?? ''
  if (text === '' || subtype === 'Popup' || subtype === 'Link') return null
  return subtype === 'FreeText' ? text : `Comment: ${text}`
}

function linesOf(items: readonly TextItem[]): PdfLine[] {
  const lines: PdfLine[] = []
  let current: PdfLine | null = null
  const close = (): void => {
    const text = normalizeCharacters(current?.text ?? '')
      .replace(/[ \t]+/g, ' ')
      .trim()
    if (current !== null && text !== '') lines.push({ ...current, text })
    current = null
  }
  for (const item of items) {
    // A matrix: the last two of its six numbers are the position, the two before them hold the type size.
    const [, , across = 0, up = 0, , y = 0] = item.transform.map(Number)
    const size = Math.hypot(across, up)
    const moved = current !== null && Math.abs(current.y - y) > Math.max(2, size * 0.6)
    if (moved && item.str !== '') close()
    current ??= { text: '', size: 0, y }
    if (item.str.trim() !== '') current.size = Math.max(current.size, Math.round(size * 10) / 10)
    current.text += item.str
    if (item.hasEOL) close()
  }
  close()
  return lines
}

/**
 * Fonts of PDFs often map to Chinese radicals instead of characters, and to ligatures instead of letters: they look alike,
 * but no search finds them. Unicode normalization folds most of them; the table has the rest.
 */
const normalizeCharacters = (text: string): string =>
  text
    .replace(/[\u2F00-\u2FDF\uF900-\uFAFF\uFB00-\uFB06]/g, (character) =>
      character.normalize('NFKC'),
    )
    .replace(/[\u2E80-\u2EFF]/g, (radical) => CHARACTER_OF_RADICAL[radical] ?? radical)

const CHARACTER_OF_RADICAL: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(
    { length: RADICALS.length / 2 },
    (_, index) => [RADICALS.charAt(index * 2), RADICALS.charAt(index * 2 + 1)] as const,
  ),
)
