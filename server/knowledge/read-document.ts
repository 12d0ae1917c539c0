// Converts a document's bytes into passages: detects binary formats by the bytes and text formats by the extension.
import { extname } from 'node:path'
import { type DecodedText, decodeText } from '../lib/encodings.ts'
import { pageRanges, unreadableNote } from '../lib/pdf.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { DocumentPreview } from '../protocol/projects/preview.ts'
import { boundedText, type DocumentText } from './document-text.ts'
import { officeFormat } from './office-archive.ts'
import type { Passage, Section } from './passage.ts'
import { cutIntoPassages } from './read-document/chunk.ts'
import { docxSections } from './read-document/docx-sections.ts'
import { htmlSections } from './read-document/html-sections.ts'
import { markdownSections } from './read-document/markdown-sections.ts'
import { pdfSections } from './read-document/pdf-sections.ts'
import { previewPages, previewSheets, previewSlides, previewText } from './read-document/preview.ts'
import { sheetSections } from './read-document/sheet-sections.ts'
import { slideSections } from './read-document/slide-sections.ts'
import { tableSections } from './read-document/table-sections.ts'

/** For the person who uploaded the file: what is wrong with it. */
export class UnreadableDocument extends Error {
  readonly failure: DescribedFailure
  /** Of a PDF without text, which a model may still be able to read. */
  readonly pages: number | null
  constructor(failure: DescribedFailure, cause?: unknown, pages: number | null = null) {
    super(failure.message, { cause })
    this.name = 'UnreadableDocument'
    this.failure = failure
    this.pages = pages
  }
}

/**
 * Returns the passages of a document, as `failure` which pages could not be read, and the encoding of a text. `chosen` is the
 * encoding that a person has chosen for it. Heavy and partly synchronous: only call it in its child process. Throws
 * `UnreadableDocument` with a text for a person, and whatever the libraries throw on damaged files.
 */
export async function readDocument(
  name: string,
  bytes: Uint8Array,
  chosen: string | null = null,
): Promise<{ passages: Passage[] } & Pick<DocumentText, 'failure' | 'encoding'>> {
  const found = await formattedText(name, bytes)
  const decoded = found === null ? decodedText(bytes, chosen) : null
  const sections = found?.sections ?? textSections(name, decoded?.text ?? '')
  const passages = cutIntoPassages(sections)
  if (passages.length === 0) throw new UnreadableDocument(storedFailure('document_empty'))
  return {
    passages,
    failure: found === null ? null : partlyRead(found.notes),
    encoding: decoded?.encoding.name ?? null,
  }
}

/** @throws UnreadableDocument for bytes that are no text. */
function decodedText(bytes: Uint8Array, chosen: string | null): DecodedText {
  const decoded = decodeText(bytes, chosen)
  if (decoded === null) throw new UnreadableDocument(storedFailure('document_binary'))
  return decoded
}

/**
 * Returns the whole text of a document. Text files, tables, pages and source code come as they are. Heavy like
 * `readDocument`, and throws like it.
 */
export async function readWholeText(
  name: string,
  bytes: Uint8Array,
  chosen: string | null = null,
): Promise<DocumentText> {
  const found = await formattedText(name, bytes)
  if (found === null) {
    const { text, encoding } = decodedText(bytes, chosen)
    return { ...boundedText(text), pages: null, failure: null, encoding: encoding.name }
  }
  const { sections, notes } = found
  if (sections.length === 0) throw new UnreadableDocument(storedFailure('document_empty'))
  const lines: string[] = []
  let pages: number | null = null
  let heading: string | null = null
  for (const section of withNotes(sections, notes)) {
    if (section.page !== null && section.page !== pages) {
      pages = section.page
      lines.push(`[Page ${pages}]`)
    }
    if (section.heading !== null && section.heading !== heading) lines.push(section.heading)
    heading = section.heading
    lines.push(section.text)
  }
  return { ...boundedText(lines.join('\n')), pages, failure: partlyRead(notes), encoding: null }
}

/**
 * Returns the content of a PDF or Office document for a preview. Heavy like `readDocument`, and throws like it, also for files
 * that are neither.
 */
export async function readPreview(name: string, bytes: Uint8Array): Promise<DocumentPreview> {
  if (startsWith(bytes, '%PDF')) return previewPages((await readPdf(bytes)).sections)
  const format = startsWith(bytes, 'PK') ? formatOfArchive(bytes) : null
  if (format === null) {
    // Throws for what its name says it should be.
    await formattedText(name, bytes)
    throw new UnreadableDocument(storedFailure('document_unreadable'))
  }
  try {
    return await PREVIEWS[format](bytes)
  } catch (error) {
    throw new UnreadableDocument(DAMAGED[format], error)
  }
}

/** The sections, with a note before those of each page that could not be read. */
function withNotes(sections: readonly Section[], notes: ReadonlyMap<number, string>): Section[] {
  const all: Section[] = [...notes].map(([page, text]) => ({ heading: null, page, text }))
  // Sorting is stable: a note stays before the text of its page.
  return notes.size === 0
    ? [...sections]
    : [...all, ...sections].sort((one, other) => (one.page ?? 0) - (other.page ?? 0))
}

const partlyRead = (notes: ReadonlyMap<number, string>): DescribedFailure | null =>
  notes.size === 0
    ? null
    : storedFailure('document_partly_read', { pages: pageRanges([...notes.keys()]) })

/** What was read from a formatted document. */
interface FormattedText {
  sections: Section[]
  /** What a model reads in place of the pages that could not be read, by their numbers. */
  notes: ReadonlyMap<number, string>
}

async function readPdf(bytes: Uint8Array): Promise<FormattedText> {
  const { pages, sections } = await pdfSections(bytes).catch((error: unknown) => {
    const { name } = error instanceof Error ? error : { name: '' }
    const reason =
      name === 'PasswordException'
        ? 'document_pdf_protected'
        : name === 'XfaForm'
          ? 'document_pdf_xfa'
          : 'document_pdf_damaged'
    throw new UnreadableDocument(storedFailure(reason), error)
  })
  if (sections.length === 0)
    throw new UnreadableDocument(storedFailure('document_scanned'), undefined, pages.length)
  const notes = pages.flatMap((page, index): [number, string][] => {
    const note = unreadableNote(page)
    return note === null ? [] : [[index + 1, note]]
  })
  return { sections, notes: new Map(notes) }
}

/** The text of a PDF or an Office document; null for everything else. */
async function formattedText(name: string, bytes: Uint8Array): Promise<FormattedText | null> {
  const extension = extname(name).toLowerCase()
  if (startsWith(bytes, '%PDF')) return readPdf(bytes)
  if (startsWith(bytes, 'PK')) {
    const format = formatOfArchive(bytes)
    // A damaged archive is what its name says.
    const read = OFFICE_READERS[format === null ? extension : `.${format}`]
    if (read !== undefined) return { sections: await read(bytes), notes: new Map() }
    throw new UnreadableDocument(
      extension === ''
        ? storedFailure('document_archive_unknown')
        : storedFailure('document_archive_unsupported', { extension }),
    )
  }
  if (extension === '.pdf' || extension in OFFICE_READERS)
    throw new UnreadableDocument(storedFailure('document_not_what_its_name_says', { extension }))
  return null
}

function formatOfArchive(bytes: Uint8Array): ReturnType<typeof officeFormat> {
  try {
    return officeFormat(bytes)
  } catch {
    return null
  }
}

function textSections(name: string, text: string): Section[] {
  const extension = extname(name).toLowerCase()
  if (extension === '.csv' || extension === '.tsv') return tableSections(text)
  if (extension === '.html' || extension === '.htm' || extension === '.xhtml') {
    try {
      return htmlSections(text)
    } catch (error) {
      if (error instanceof RangeError)
        throw new UnreadableDocument(storedFailure('document_page_too_deep'), error)
      throw error
    }
  }
  if (extension === '.md' || extension === '.markdown') return markdownSections(text)
  return [{ heading: null, page: null, text: text.replace(/\r\n?/g, '\n') }]
}

/** Reads a damaged file as a failure with a text for a person. */
const orDamaged =
  (read: (bytes: Uint8Array) => Section[] | Promise<Section[]>, failure: DescribedFailure) =>
  async (bytes: Uint8Array): Promise<Section[]> => {
    try {
      return await read(bytes)
    } catch (error) {
      throw new UnreadableDocument(failure, error)
    }
  }

const DAMAGED = {
  docx: storedFailure('document_docx_damaged'),
  xlsx: storedFailure('document_office_damaged', { extension: 'XLSX' }),
  pptx: storedFailure('document_office_damaged', { extension: 'PPTX' }),
} as const

const OFFICE_READERS: Readonly<Record<string, (bytes: Uint8Array) => Promise<Section[]>>> = {
  '.docx': orDamaged(docxSections, DAMAGED.docx),
  '.xlsx': orDamaged(sheetSections, DAMAGED.xlsx),
  '.pptx': orDamaged(slideSections, DAMAGED.pptx),
}

const PREVIEWS = { docx: previewText, xlsx: previewSheets, pptx: previewSlides } as const

const startsWith = (bytes: Uint8Array, mark: string): boolean =>
  Buffer.from(bytes.subarray(0, mark.length)).toString('latin1') === mark
