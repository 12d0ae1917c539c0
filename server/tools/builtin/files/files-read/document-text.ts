// The text of PDF and Office files of a project, as `file_read` returns it, and which names are those of such files.
import { basename, extname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { extractText } from '../../../../knowledge/extract.ts'
import { looksLikeOffice } from '../../../../knowledge/office-archive.ts'
import { createFairQueue } from '../../../../lib/fair-queue.ts'

/** Damaged ones are named as what they should be. */
const OFFICE = new Set(['.docx', '.docm', '.xlsx', '.xlsm', '.pptx', '.pptm', '.ppsx'])
const OTHER = new Set(['.pdf', '.png', '.jpg', '.jpeg', '.gif', '.webp', '.avif', '.heic', '.heif'])
/** A model reads a document in portions: its text stays for the next one. */
const MAX_TEXTS = 8
const MAX_CHARACTERS = 8_000_000
const TTL_MS = 600_000
/** Documents that child processes read at once, in all and of one user. */
const MAX_CONCURRENT = { size: 3, perOwner: 2 }

/** A text with a line `[Page n]` before each page. `pages`: null for formats without pages. `note`: what is missing. */
type DocumentText = { text: string; pages: number | null; note: string | null }

const startsWith = (bytes: Uint8Array, mark: string): boolean =>
  Buffer.from(bytes.subarray(0, mark.length)).toString('latin1') === mark

/** Whether a document reader knows what to do with the file. */
export const isDocument = (path: string, bytes: Uint8Array): boolean =>
  startsWith(bytes, '%PDF') ||
  (startsWith(bytes, 'PK') && (OFFICE.has(extname(path).toLowerCase()) || looksLikeOffice(bytes)))

/** Whether the name is that of a document or picture, which child processes read within their own limits. */
export function isReadByChild(path: string): boolean {
  const extension = extname(path).toLowerCase()
  return OFFICE.has(extension) || OTHER.has(extension)
}

/**
 * Create one per process. `version` changes with the content of the file of the project. Reads in child processes, a few at a
 * time, in turns of the users; resolves with the reason of a failure.
 */
export function createDocumentReader(extract = extractText) {
  const readers = createFairQueue(MAX_CONCURRENT)
  const texts = new LRUCache<string, DocumentText>({
    max: MAX_TEXTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ text }) => text.length + 1,
    ttl: TTL_MS,
  })
  return async (
    file: { root: string; path: string; version: string; bytes: Uint8Array },
    owner: string,
    signal: AbortSignal,
  ): Promise<DocumentText | string> => {
    const key = `${file.version} ${file.root} ${file.path}`
    const known = texts.get(key)
    if (known !== undefined) return known
    const found = await readers.run(owner, () =>
      extract(basename(file.path), file.bytes, { signal }),
    )
    if (!found.ok) return found.failure.message
    const { text, pages, failure } = found
    const read = { text, pages, note: failure?.message ?? null }
    texts.set(key, read)
    return read
  }
}

/**
 * The part of the text that belongs to the pages from `first` to `last`, with their marks; null if nothing was read of any
 * of them.
 */
export function pagesOf(text: string, first: number, last: number): string | null {
  let from = -1
  let to = text.length
  for (const { index, 1: page } of text.matchAll(/^\[Page (\d{1,6})\]\n/gm)) {
    const isShown = Number(page) >= first && Number(page) <= last
    if (isShown && from === -1) from = index
    if (!isShown && from !== -1) {
      to = index
      break
    }
  }
  return from === -1 ? null : text.slice(from, to)
}
