// The child process that reads one document: bytes on standard input, passages on descriptor 3.
import { createWriteStream } from 'node:fs'
import { errorText } from '../errors.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { readDocument, UnreadableDocument } from './read-document.ts'

/** One line of the output: passages as they are found, then one `end` or one `failed`. */
type Line =
  | { kind: 'passages'; passages: unknown[] }
  | { kind: 'end' }
  | { kind: 'failed'; failure: DescribedFailure; internal: string }

const PASSAGES_PER_LINE = 50

const output = createWriteStream('', { fd: 3 })
const write = (line: Line): void => {
  output.write(`${JSON.stringify(line)}\n`)
}

const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(chunk)
try {
  const passages = await readDocument(process.argv[2] ?? '', new Uint8Array(Buffer.concat(chunks)))
  for (let start = 0; start < passages.length; start += PASSAGES_PER_LINE)
    write({ kind: 'passages', passages: passages.slice(start, start + PASSAGES_PER_LINE) })
  write({ kind: 'end' })
} catch (error) {
  write({
    kind: 'failed',
    failure:
      error instanceof UnreadableDocument ? error.failure : storedFailure('document_unreadable'),
    internal: errorText(error).slice(0, 1000),
  })
}
output.end()
