// The child process that reads one document: bytes on standard input, passages, the whole text or a preview on descriptor 3.
import { createWriteStream } from 'node:fs'
import { errorText } from '../errors.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { readDocument, readPreview, readWholeText, UnreadableDocument } from './read-document.ts'

/** One line of the output: passages or pieces of the text (of a preview, its JSON), then one `end` or one `failed`. */
type Line =
  | { kind: 'passages'; passages: unknown[] }
  | { kind: 'text'; text: string }
  | {
      kind: 'end'
      pages: number | null
      characters: number
      /** What could not be read although there is a text. */
      failure: DescribedFailure | null
      encoding: string | null
    }
  | { kind: 'failed'; failure: DescribedFailure; internal: string; pages: number | null }

const PASSAGES_PER_LINE = 50
const CHARACTERS_PER_LINE = 100_000

const output = createWriteStream('', { fd: 3 })
const write = (line: Line): void => {
  output.write(`${JSON.stringify(line)}\n`)
}

/** In pieces, because the reader of a long line looks for its end again whenever more of it arrives. */
const writeText = (text: string): void => {
  for (let start = 0; start < text.length; start += CHARACTERS_PER_LINE)
    write({ kind: 'text', text: text.slice(start, start + CHARACTERS_PER_LINE) })
}

const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(chunk)
try {
  const [, , name = '', mode, chosen = null] = process.argv
  const bytes = new Uint8Array(Buffer.concat(chunks))
  if (mode === 'text') {
    const { text, ...end } = await readWholeText(name, bytes, chosen)
    writeText(text)
    write({ kind: 'end', ...end })
  } else if (mode === 'preview') {
    writeText(JSON.stringify(await readPreview(name, bytes)))
    write({ kind: 'end', pages: null, characters: 0, failure: null, encoding: null })
  } else {
    const { passages, ...end } = await readDocument(name, bytes, chosen)
    for (let start = 0; start < passages.length; start += PASSAGES_PER_LINE)
      write({ kind: 'passages', passages: passages.slice(start, start + PASSAGES_PER_LINE) })
    write({ kind: 'end', pages: null, characters: 0, ...end })
  }
} catch (error) {
  write({
    kind: 'failed',
    failure:
      error instanceof UnreadableDocument ? error.failure : storedFailure('document_unreadable'),
    internal: errorText(error).slice(0, 1000),
    pages: error instanceof UnreadableDocument ? error.pages : null,
  })
}
output.end()
