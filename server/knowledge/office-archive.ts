// Reads the parts of an Office Open XML file (ECMA-376): a ZIP archive of XML files that refer to each other.
import { posix } from 'node:path'
import { unzipSync } from 'fflate'
import { Parser } from 'htmlparser2'

/** Unpacked bytes of one part and of all parts; larger ones are no documents that a person wrote. */
const MAX_PART_BYTES = 64 * 1024 * 1024
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024

/** The parts of an Office file, which is a ZIP archive, bounded in size. */
export interface OfficeArchive {
  /** The XML of a part; undefined when there is none. */
  part(path: string): string | undefined
  /** The unpacked parts, by their paths. */
  entries(): [path: string, bytes: Uint8Array][]
  /** The paths of the parts that another part refers to, by the ids of the references. */
  targets(path: string): Map<string, string>
}

/** Unpacks the parts whose paths `wanted` accepts. @throws for damaged archives and for archives that unpack to too much. */
export function openOfficeArchive(
  bytes: Uint8Array,
  wanted: (path: string) => boolean,
): OfficeArchive {
  let unpacked = 0
  const parts = unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!wanted(name)) return false
      unpacked += originalSize
      if (originalSize > MAX_PART_BYTES || unpacked > MAX_UNPACKED_BYTES)
        throw new Error('The archive unpacks to too much.')
      return true
    },
  })
  const part = (path: string): string | undefined => {
    const found = parts[path]
    return found === undefined ? undefined : new TextDecoder().decode(found)
  }
  return {
    part,
    entries: () => Object.entries(parts),
    targets(path) {
      const folder = posix.dirname(path)
      const relations = part(`${folder}/_rels/${posix.basename(path)}.rels`)
      const targets = new Map<string, string>()
      if (relations === undefined) return targets
      readXml(relations, {
        open(name, { Id, Target }) {
          if (name !== 'Relationship' || Id === undefined || Target === undefined) return
          // From the top of the archive when it begins with a slash.
          targets.set(Id, Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target))
        },
      })
      return targets
    },
  }
}

const LIST_BYTES = 256 * 1024
/** The formats of Office documents, whatever their files are called: macros and templates have other extensions. */
const MAIN_PARTS = {
  // Word on the web numbers it: `word/document2.xml`.
  docx: /^word\/document\d*\.xml$/,
  xlsx: /^xl\/workbook\.xml$/,
  pptx: /^ppt\/presentation\.xml$/,
} as const
const BEGINNINGS = ['word/document', 'xl/workbook.xml', 'ppt/presentation.xml']

/** Whether a part is the body of a Word document. */
export const isWordBody = (path: string): boolean => MAIN_PARTS.docx.test(path)

/** Whether the bytes are those of an Office document, by the list of parts at the end of its archive; its reader checks that. */
export function looksLikeOffice(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, LIST_BYTES)
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + bytes.length - length, length)
  return BEGINNINGS.some((part) => end.includes(part))
}

/** The format of an Office document by its parts; null for other archives. @throws for damaged archives. */
export function officeFormat(bytes: Uint8Array): keyof typeof MAIN_PARTS | null {
  const names: string[] = []
  unzipSync(bytes, {
    filter({ name }) {
      names.push(name)
      return false
    },
  })
  const has = (main: RegExp): boolean => names.some((name) => main.test(name))
  if (has(MAIN_PARTS.docx)) return 'docx'
  if (has(MAIN_PARTS.xlsx)) return 'xlsx'
  return has(MAIN_PARTS.pptx) ? 'pptx' : null
}

/** The id of the reference of an element, `r:id` in most files: the prefix is up to the program that wrote it. */
export const referenceIn = (attributes: Record<string, string>): string =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? ''

/** Calls back for each element, by its name without namespace, and for each piece of text. */
export function readXml(
  xml: string,
  on: {
    open?(name: string, attributes: Record<string, string>): void
    text?(text: string): void
    close?(name: string): void
  },
): void {
  const local = (name: string): string => name.slice(name.indexOf(':') + 1)
  const parser = new Parser(
    {
      onopentag: (name, attributes) => on.open?.(local(name), attributes),
      ontext: (text) => on.text?.(text),
      onclosetag: (name) => on.close?.(local(name)),
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(xml)
  parser.end()
}
