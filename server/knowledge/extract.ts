// Reads a document in a child process with limits on time and memory, so that a malicious file cannot do harm.
import { tmpdir } from 'node:os'
import { z } from 'zod'
import { childEntry } from '../lib/child-entry.ts'
import { DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { DocumentPreview } from '../protocol/projects/preview.ts'
import { startProcess } from '../sandbox/process.ts'
import { watchResidentMemory } from '../sandbox/resident-memory.ts'
import type { DocumentText } from './document-text.ts'
import { Passage } from './passage.ts'

/**
 * Why a document could not be read: `failure` for the person who uploaded it, `internal` for the log. `pages` of a PDF
 * without text.
 */
export type FailedExtraction = {
  ok: false
  failure: DescribedFailure
  internal?: string
  pages?: number | null
}
/** The passages of a document and what could not be read of it, or the reason why there are none. */
export type Extraction =
  | ({ ok: true; passages: Passage[] } & Pick<DocumentText, 'failure' | 'encoding'>)
  | FailedExtraction
/** The text of a file, or the reason why there is none. */
export type TextExtraction = ({ ok: true } & DocumentText) | FailedExtraction

/** The limits of one extraction. */
export interface ExtractOptions {
  signal: AbortSignal
  /** The encoding of a text that a person has chosen; by default, the likeliest. */
  encoding?: string | null
  /** Milliseconds; one minute by default. */
  timeoutMs?: number
  /** Resident memory of the child in bytes (Linux); 1 GB by default. */
  maxMemory?: number
}

const TIMEOUT_MS = 60_000
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024
const MAX_HEAP_MB = 512
const MAX_OUTPUT_CHARACTERS = 100 * 1024 * 1024
const MAX_PASSAGES = 100_000

const Line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('passages'), passages: z.array(Passage) }),
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({
    kind: z.literal('end'),
    pages: z.int().nullable(),
    characters: z.int(),
    failure: DescribedFailure.nullable(),
    encoding: z.string().nullable(),
  }),
  z.object({
    kind: z.literal('failed'),
    failure: DescribedFailure,
    internal: z.string(),
    pages: z.int().nullable(),
  }),
])
type Line = z.infer<typeof Line>

/** Extracts the passages of one document. Never throws. The child process has ended when it resolves. */
export async function extractPassages(
  name: string,
  bytes: Uint8Array,
  options: ExtractOptions,
): Promise<Extraction> {
  const found = await extract(name, 'passages', bytes, options)
  if (!found.ok) return found
  const { passages, failure, encoding } = found
  return { ok: true, passages, failure, encoding }
}

/** Extracts the whole text of one document, with lines that mark its pages. Otherwise like `extractPassages`. */
export async function extractText(
  name: string,
  bytes: Uint8Array,
  options: ExtractOptions,
): Promise<TextExtraction> {
  const found = await extract(name, 'text', bytes, options)
  if (!found.ok) return found
  const { passages: _passages, ...text } = found
  return text
}

/** Reads the content of a PDF or Office document for a preview. Otherwise like `extractPassages`. */
export async function extractPreview(
  name: string,
  bytes: Uint8Array,
  options: ExtractOptions,
): Promise<{ ok: true; preview: DocumentPreview } | FailedExtraction> {
  const found = await extract(name, 'preview', bytes, options)
  return found.ok ? { ok: true, preview: DocumentPreview.parse(JSON.parse(found.text)) } : found
}

async function extract(
  name: string,
  mode: 'passages' | 'text' | 'preview',
  bytes: Uint8Array,
  options: ExtractOptions,
): Promise<({ ok: true; passages: Passage[] } & DocumentText) | FailedExtraction> {
  const entry = childEntry('knowledge/read-document.child')
  const chosen = options.encoding ?? null
  const child = startProcess({
    command: process.execPath,
    args: [
      `--max-old-space-size=${MAX_HEAP_MB}`,
      ...entry.execArgv,
      entry.file,
      name,
      mode,
      ...(chosen === null ? [] : [chosen]),
    ],
    cwd: tmpdir(),
    env: {},
    input: bytes,
    extraPipes: 1,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
    maxOutputBytes: 10_000,
    endsWithServer: true,
  })
  const passages: Passage[] = []
  let failed: Pick<FailedExtraction, 'failure' | 'internal' | 'pages'> | undefined
  const pieces: string[] = []
  let end: Extract<Line, { kind: 'end' }> | undefined
  let exceeded = false

  const readLine = (text: string): void => {
    const line = Line.parse(JSON.parse(text))
    if (line.kind === 'passages') passages.push(...line.passages)
    else if (line.kind === 'failed')
      failed = { failure: line.failure, internal: line.internal, pages: line.pages }
    else if (line.kind === 'text') pieces.push(line.text)
    else end = line
    if (passages.length > MAX_PASSAGES) reject()
  }
  const reject = (): void => {
    exceeded = true
    child.kill()
  }

  const pipe = child.pipes[0]
  let rest = ''
  let received = 0
  pipe?.setEncoding('utf8')
  pipe?.on('data', (chunk: string) => {
    received += chunk.length
    if (received > MAX_OUTPUT_CHARACTERS) return reject()
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    try {
      for (const line of lines) readLine(line)
    } catch {
      // Only a compromised child writes anything else.
      reject()
    }
  })
  const endWatch = watchResidentMemory(child.pid, options.maxMemory ?? MAX_MEMORY_BYTES, reject)
  const outcome = await child.done
  endWatch()

  if (outcome.aborted) return { ok: false, failure: storedFailure('document_reading_stopped') }
  if (outcome.timedOut) return { ok: false, failure: storedFailure('document_reading_too_slow') }
  if (failed !== undefined) return { ok: false, ...failed }
  if (end !== undefined && !exceeded) {
    const { kind: _kind, ...rest } = end
    return { ok: true, passages, text: pieces.join(''), ...rest }
  }
  if (outcome.startError !== null)
    return {
      ok: false,
      failure: storedFailure('document_reader_not_started'),
      internal: outcome.startError.message,
    }
  return {
    ok: false,
    failure: storedFailure('document_too_large_to_read'),
    internal: outcome.stderr.slice(-1000),
  }
}
