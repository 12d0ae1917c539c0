// Writes a ZIP archive to a stream, entry by entry, with one piece of one entry in memory at a time.
import { Readable, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import yazl from 'yazl'

/** A ZIP archive that is being written. */
export interface ZipWriter {
  /** Adds an entry; resolves when it is written. `compress: false` suits contents that are compressed already. */
  add(
    name: string,
    content: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
    options?: { compress: boolean },
  ): Promise<void>
  /** Writes the directory; resolves when `output` has ended. */
  finish(): Promise<void>
}

/** After a failure of `add` or of `output`, every call rejects and `output` is destroyed. */
export function createZipWriter(output: Writable): ZipWriter {
  const zip = new yazl.ZipFile()
  const written = pipeline(zip.outputStream, output)
  const broken = new Promise<never>((_resolve, reject) => {
    zip.on('error', reject)
    written.catch(reject)
  })
  // The callers of `add` and `finish` receive the error.
  broken.catch(() => undefined)
  return {
    async add(name, content, { compress } = { compress: true }) {
      const stream = Readable.from(content, { objectMode: false })
      try {
        zip.addReadStreamLazy(name, { compress, mode: 0o100600 }, (use) => use(null, stream))
        await Promise.race([finished(stream), broken])
      } catch (error) {
        stream.destroy()
        output.destroy()
        throw error
      }
    },
    async finish() {
      zip.end()
      await Promise.race([written, broken])
    },
  }
}
