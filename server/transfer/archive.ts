// Opens the ZIP archive of an import. It may come from anywhere, so files, bytes and ratio are bounded, and paths cannot
// leave it.
import { pipeline, type Readable, Transform } from 'node:stream'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { decodeFileName } from '../lib/encodings.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { ImportFault } from './import-items.ts'

/** More than any personal export has. The directory of the archive is read into memory. */
const MAX_ENTRIES = 300_000
const MAX_RATIO = 200
/**
 * Files up to this size may exceed the ratio: a pasted log or an empty picture does, in our own exports too, and unpacking
 * it is harmless.
 */
const RATIO_FROM_BYTES = 32 * 1024 * 1024
const UNIX_TYPE = 0o170000
const UNIX_LINK = 0o120000

/** An opened archive of an import. */
export interface Archive {
  /** The names of its files, made safe to use. */
  readonly names: readonly string[]
  /** Entries that were left out on opening, with the reason. */
  readonly skipped: readonly { what: string; failure: DescribedFailure }[]
  /** Unpacked bytes of all files. */
  readonly bytes: number
  has(name: string): boolean
  /** Unpacked bytes of a file. */
  sizeOf(name: string): number
  /** @throws ImportFault when there is no such file or it is encrypted. The stream fails when its data is damaged. */
  open(name: string): Promise<Readable>
  close(): void
}

/** @throws ImportFault for an archive that is damaged, too large, or unlike an export. */
export async function openArchive(
  path: string,
  maxBytes: number,
  maxBytesText: string,
): Promise<Archive> {
  const zip = await orDamaged(
    yauzl.openPromise(path, {
      autoClose: false,
      decodeStrings: false,
      validateEntrySizes: true,
    }),
  )
  try {
    if (zip.entryCount > MAX_ENTRIES)
      throw new ImportFault(storedFailure('import_archive_too_many_files', { limit: MAX_ENTRIES }))
    const entries = new Map<string, yauzl.Entry>()
    const skipped: { what: string; failure: DescribedFailure }[] = []
    let bytes = 0
    await orDamaged(
      (async () => {
        for await (const entry of zip.eachEntry()) {
          const name = nameOf(entry)
          if (name.endsWith('/')) continue
          const failure = refusalOf(entry, name)
          if (failure !== null) {
            skipped.push({ what: name, failure })
            continue
          }
          bytes += entry.uncompressedSize
          if (bytes > maxBytes)
            throw new ImportFault(
              storedFailure('import_archive_too_large', { limit: maxBytesText }),
            )
          entries.set(name, entry)
        }
      })(),
    )
    return {
      names: [...entries.keys()],
      skipped,
      bytes,
      has: (name) => entries.has(name),
      sizeOf: (name) => entries.get(name)?.uncompressedSize ?? 0,
      async open(name) {
        const entry = entries.get(name)
        if (entry === undefined) throw new ImportFault(storedFailure('import_file_missing'))
        if (entry.isEncrypted()) throw new ImportFault(storedFailure('import_archive_encrypted'))
        return checked(await orDamaged(zip.openReadStreamPromise(entry)), entry.crc32)
      },
      close: () => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error
  }
}

/** The stream, which fails at its end if the data is not what the archive's checksum says: `yauzl` does not compare it. */
function checked(stream: Readable, expected: number): Readable {
  let sum = 0
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum = crc32(chunk, sum)
      done(null, chunk)
    },
    flush(done) {
      done(sum === expected ? null : new Error('The checksum of an entry is wrong.'))
    },
  })
  // The reader of `check` receives the error, too.
  return pipeline(stream, check, () => {})
}

/** Without `decodeStrings`, names are bytes; exports write UTF-8 whatever their flag says, and some programs that pack again do not. */
const nameOf = (entry: yauzl.Entry): string => decodeFileName(entry.fileNameRaw)

/** Why an entry is left out; null for an ordinary file. */
function refusalOf(entry: yauzl.Entry, name: string): DescribedFailure | null {
  if (yauzl.validateFileName(name) !== null || name.includes('\0'))
    return storedFailure('import_entry_unsafe')
  if (((entry.externalFileAttributes >>> 16) & UNIX_TYPE) === UNIX_LINK)
    return storedFailure('import_entry_link')
  if (
    entry.uncompressedSize > RATIO_FROM_BYTES &&
    entry.uncompressedSize > MAX_RATIO * entry.compressedSize
  )
    return storedFailure('import_archive_bomb', { ratio: MAX_RATIO })
  return null
}

async function orDamaged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ImportFault) throw error
    throw new ImportFault(storedFailure('import_archive_damaged'))
  }
}
