// Finds the text that an edit refers to (exact, whitespace-tolerant, a pattern, or line numbers) and applies the edit.
import { type AppError, appError } from '../../errors.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import { splitLines } from './text.ts'

/** A change to a text. */
export type TextEdit =
  | { mode: 'exact' | 'flexible'; old: string; new: string; replaceAll: boolean }
  | { mode: 'regex'; pattern: string; new: string; replaceAll: boolean }
  /** Line numbers from 1, inclusive; with `end = start - 1`, inserts before `start`. */
  | { mode: 'lines'; start: number; end: number; new: string }

/** The text after an edit. */
export interface EditedText {
  text: string
  /** Number of replacements. */
  count: number
}

const PATTERN_TIMEOUT_MS = 5_000
const MAX_LISTED_LINES = 20
/** The search stops after this many matches. */
const MAX_MATCHES = 100_000

const refuse = (detail: string): AppError => appError('edit_failed', { detail })

/** Returns the edited text. `owner`: for the queue of the pool. Throws `bad_request` with what is wrong and how to fix the edit; never guesses. */
export async function editText(
  text: string,
  edit: TextEdit,
  pool: WorkerPool,
  { owner, signal }: { owner: string | null; signal?: AbortSignal },
): Promise<EditedText> {
  const bounds = {
    timeoutMs: PATTERN_TIMEOUT_MS,
    owner,
    ...(signal === undefined ? {} : { signal }),
  }
  // Models write plain newlines; a file with Windows line endings keeps them.
  const windows = text.includes('\r\n') && !/[^\r]\n/.test(text)
  const withFileNewlines = (input: string): string =>
    windows ? input.replace(/\r?\n/g, '\r\n') : input
  switch (edit.mode) {
    case 'exact': {
      const old = withFileNewlines(edit.old)
      if (old === '') throw refuse('"old" is empty. Give the text to replace.')
      const starts = findAll(text, old)
      if (starts.length === 0) throw refuse(await notFound(text, edit.old, pool, bounds))
      assertUnambiguous(
        starts.map((index) => lineAt(text, index)),
        edit.replaceAll,
      )
      return changed(
        text,
        splice(
          text,
          starts.map((index) => [index, index + old.length, withFileNewlines(edit.new)]),
        ),
        starts.length,
      )
    }
    case 'flexible': {
      if (edit.old.trim() === '') throw refuse('"old" is empty. Give the text to replace.')
      const { ranges } = await pool.run(
        'locate',
        { text, old: edit.old, limit: MAX_MATCHES },
        bounds,
      )
      if (ranges.length === 0)
        throw refuse(
          '"old" is not in the file, even with different whitespace. Read the file again.',
        )
      assertUnambiguous(
        ranges.map(([start]) => lineAt(text, start)),
        edit.replaceAll,
      )
      const pieces = ranges.map(
        ([start, end]): Piece => [
          start,
          end,
          withFileNewlines(reindent(edit.new, edit.old, indentAt(text, start))),
        ],
      )
      return changed(text, splice(text, pieces), ranges.length)
    }
    case 'regex': {
      const found = await pool.run(
        'replace',
        {
          pattern: edit.pattern,
          replacement: withFileNewlines(edit.new),
          text,
          all: edit.replaceAll,
        },
        bounds,
      )
      if (found.count === 0) throw refuse('The pattern matches nothing in the file.')
      assertUnambiguous(found.lines, edit.replaceAll, found.count)
      return changed(text, found.text, edit.replaceAll ? found.count : 1)
    }
    case 'lines':
      return changed(text, replaceLines(text, edit, windows ? '\r\n' : '\n'), 1)
  }
}

type Piece = readonly [start: number, end: number, replacement: string]

function splice(text: string, pieces: readonly Piece[]): string {
  const parts: string[] = []
  let index = 0
  for (const [start, end, replacement] of pieces) {
    parts.push(text.slice(index, start), replacement)
    index = end
  }
  parts.push(text.slice(index))
  return parts.join('')
}

function changed(before: string, after: string, count: number): EditedText {
  if (before === after) throw refuse('The edit would change nothing: old and new are the same.')
  return { text: after, count }
}

function findAll(text: string, old: string): number[] {
  const starts: number[] = []
  for (
    let index = text.indexOf(old);
    index !== -1 && starts.length < MAX_MATCHES;
    index = text.indexOf(old, index + old.length)
  )
    starts.push(index)
  return starts
}

/** Refuses an edit with several matches, listing their lines, unless it replaces all of them. */
function assertUnambiguous(
  lines: readonly number[],
  replaceAll: boolean,
  count = lines.length,
): void {
  if (count <= 1 || replaceAll) return
  const listed = lines.slice(0, MAX_LISTED_LINES).join(', ')
  throw refuse(
    `The text matches at ${count} places, at lines ${listed}${count > MAX_LISTED_LINES ? ', …' : ''}. Give more of the text around the one you mean, use mode "lines", or set replace_all to change all of them.`,
  )
}

function lineAt(text: string, index: number): number {
  let line = 1
  for (
    let position = text.indexOf('\n');
    position !== -1 && position < index;
    position = text.indexOf('\n', position + 1)
  )
    line++
  return line
}

async function notFound(
  text: string,
  old: string,
  pool: WorkerPool,
  bounds: Parameters<WorkerPool['run']>[2],
): Promise<string> {
  const { ranges } = await pool.run('locate', { text, old, limit: 3 }, bounds)
  const [first] = ranges
  return first === undefined
    ? '"old" is not in the file. It must match exactly, including spaces and line endings. Read the file again.'
    : `"old" does not match exactly, but the file has it with different whitespace at line ${lineAt(text, first[0])}. Copy it exactly, or use mode "flexible".`
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ''
const indentAt = (text: string, index: number): string =>
  indentOf(text.slice(text.lastIndexOf('\n', index - 1) + 1, index))

/** Shifts the replacement from the indentation that the model assumed to that of the file. */
function reindent(replacement: string, old: string, actual: string): string {
  const assumed = indentOf(old.replace(/^(?:[ \t]*\r?\n)+/, ''))
  const lines = replacement
    .replace(/^(?:[ \t]*\r?\n)+/, '')
    .trimEnd()
    .split('\n')
  return lines
    .map((line, index) => {
      const rest = line.startsWith(assumed) ? line.slice(assumed.length) : line.trimStart()
      // The first line follows the indentation that is already in the file.
      if (index === 0) return rest
      return rest.trim() === '' ? '' : actual + rest
    })
    .join('\n')
}

function replaceLines(
  text: string,
  { start, end, new: replacement }: { start: number; end: number; new: string },
  newline: string,
): string {
  const lines = splitLines(text)
  const endsOpen = text !== '' && !text.endsWith('\n')
  if (start < 1 || start > lines.length + 1 || end < start - 1 || end > lines.length)
    throw refuse(
      `The file has ${lines.length} lines; ${start} to ${end} is not a valid range. To insert before line N, use start_line=N and end_line=N-1.`,
    )
  const inserted = splitLines(replacement).map((line) => line.replace(/\r$/, ''))
  const kept = lines.map((line) => line.replace(/\r$/, ''))
  // Normalizes newlines only if all lines end the same way.
  const same = kept.join(newline) + (endsOpen || text === '' ? '' : newline) === text
  const all = same ? kept : lines
  const result = [...all.slice(0, start - 1), ...inserted, ...all.slice(end)]
  if (result.length === 0) return ''
  return result.join(same ? newline : '\n') + (endsOpen ? '' : same ? newline : '\n')
}
