// An assistant of another program as a project that is yet to be made, and what its parts have in common.
import type { ImportNote } from '../../protocol/projects/project-import.ts'
import { wellFormed } from '../../sharing/well-formed.ts'

/** The limits of a project. */
const MAX_NAME = 255
const MAX_DESCRIPTION = 2_000
const MAX_INSTRUCTIONS = 20_000
const MAX_STARTERS = 6
const MAX_STARTER_TITLE = 60
const MAX_STARTER_TEXT = 2_000
const MAX_MODEL = 200
const MAX_TEMPERATURE = 2
const MAX_DETAIL = 300
/** Images up to this size become icons. */
export const MAX_ICON_BYTES = 5 * 1024 * 1024
/** Together, in one assistant. */
const MAX_PASSAGES = 2_000
const MAX_PASSAGE_CHARACTERS = 20_000
const MAX_BOOK_CHARACTERS = 2_000_000

/** A text that has no place among the settings, and becomes a file of the project. */
export interface DraftFile {
  path: string
  text: string
  /** What search finds in it; null: it is not searchable. */
  passages: { heading: string | null; page: null; text: string }[] | null
}

/** A project that an assistant becomes. */
export interface AssistantDraft {
  name: string
  description: string | null
  instructions: string
  starters: { title: string; text: string }[]
  /** As the other program calls it; this server may not offer it. */
  model: string | null
  defaults: { temperature?: number; max_tokens?: number }
  /** An image on this machine; `isWhole`: it is the file that was imported, and must be readable. */
  icon: { path: string; isWhole: boolean } | null
  files: DraftFile[]
  notes: ImportNote[]
}

/** Text of a file, without what databases refuse. */
const cleanText = (text: string): string => wellFormed(text).replaceAll('\r\n', '\n').trim()

/** At most `max` UTF-16 units of a text, and no half of a character. */
const cut = (text: string, max: number): string =>
  text.length <= max
    ? text
    : wellFormed(text.slice(0, max))
        .replace(/\ufffd$/, '')
        .trim()

/** Text for a place with one line. */
const oneLine = (text: string): string =>
  cleanText(text)
    .replaceAll(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()

const INVISIBLE = /[\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e0fff}]/u
const PLACEHOLDER = /\{\{\s*[\w.-]{1,40}\s*\}\}/g

/** Fills a draft part by part, and notes what becomes of each. */
export interface DraftWriter {
  readonly draft: AssistantDraft
  note(
    part: ImportNote['part'],
    outcome: ImportNote['outcome'],
    reason?: ImportNote['reason'],
    detail?: string,
  ): void
  name(text: string | undefined): void
  description(text: string | undefined): void
  instructions(text: string | undefined): void
  /** `title: ''`: the beginning of the text. */
  starters(given: readonly { title: string; text: string }[]): void
  model(id: string | undefined): void
  temperature(value: number | undefined): void
  maxTokens(value: number | undefined): void
  /** Makes a searchable file of passages. */
  book(path: string, passages: readonly { heading: string; text: string }[]): void
  /** Notes names that have no place here, if there are any. */
  leaveOut(part: ImportNote['part'], reason: ImportNote['reason'], names: readonly string[]): void
}

/** A draft without anything but `name`, which stands until another is given. */
export function createDraft(name: string): DraftWriter {
  const draft: AssistantDraft = {
    name,
    description: null,
    instructions: '',
    starters: [],
    model: null,
    defaults: {},
    icon: null,
    files: [],
    notes: [],
  }
  const writer: DraftWriter = {
    draft,

    note(part, outcome, reason, detail) {
      const about = detail === undefined ? '' : cut(oneLine(detail), MAX_DETAIL)
      draft.notes.push({
        part,
        outcome,
        ...(reason === undefined ? {} : { reason }),
        ...(about === '' ? {} : { detail: about }),
      })
    },

    name(text = '') {
      const line = oneLine(text)
      if (line === '') return
      draft.name = cut(line, MAX_NAME)
      if (line.length > MAX_NAME) writer.note('name', 'changed', 'shortened')
    },

    description(text = '') {
      const clean = cleanText(text)
      if (clean === '') return
      draft.description = cut(clean, MAX_DESCRIPTION)
      if (clean.length > MAX_DESCRIPTION) writer.note('description', 'changed', 'shortened')
      else writer.note('description', 'taken')
    },

    instructions(text = '') {
      const clean = cleanText(text)
      if (clean === '') return
      draft.instructions = cut(clean, MAX_INSTRUCTIONS)
      if (clean.length > MAX_INSTRUCTIONS) {
        draft.files.push({ path: 'instructions.md', text: clean, passages: null })
        writer.note('instructions', 'changed', 'whole_in_file', 'instructions.md')
      } else writer.note('instructions', 'taken')
      if (INVISIBLE.test(clean)) writer.note('instructions', 'taken', 'hidden_characters')
      const placeholders = new Set(draft.instructions.match(PLACEHOLDER))
      if (placeholders.size > 0)
        writer.note('placeholders', 'changed', 'not_filled_in', [...placeholders].join(', '))
    },

    starters(given) {
      const written = given
        .map(({ title, text }) => ({ title: oneLine(title), text: cleanText(text) }))
        .filter(({ text }) => text !== '')
      if (written.length === 0) return
      draft.starters = written.slice(0, MAX_STARTERS).map(({ title, text }) => ({
        title: cut(title === '' ? oneLine(text) : title, MAX_STARTER_TITLE),
        text: cut(text, MAX_STARTER_TEXT),
      }))
      if (written.length > MAX_STARTERS)
        writer.note('starters', 'changed', 'too_many', String(MAX_STARTERS))
      else if (written.some(({ text }) => text.length > MAX_STARTER_TEXT))
        writer.note('starters', 'changed', 'shortened')
      else writer.note('starters', 'taken')
    },

    model(id = '') {
      const line = oneLine(id)
      if (line === '') return
      if (line.length <= MAX_MODEL) draft.model = line
      else writer.note('model', 'left_out', 'not_offered', line)
    },

    temperature(value) {
      if (value === undefined) return
      if (value < 0 || value > MAX_TEMPERATURE)
        return writer.note('temperature', 'left_out', 'beyond_limits', String(value))
      draft.defaults.temperature = value
      writer.note('temperature', 'taken', undefined, String(value))
    },

    maxTokens(value) {
      if (value === undefined) return
      if (!Number.isInteger(value) || value < 1 || value > 1_000_000)
        return writer.note('max_tokens', 'left_out', 'beyond_limits', String(value))
      draft.defaults.max_tokens = value
      writer.note('max_tokens', 'taken', undefined, String(value))
    },

    book(path, given) {
      const passages: NonNullable<DraftFile['passages']> = []
      let characters = 0
      for (const { heading, text } of given) {
        const clean = cut(cleanText(text), MAX_PASSAGE_CHARACTERS)
        if (clean === '') continue
        characters += clean.length
        if (passages.length >= MAX_PASSAGES || characters > MAX_BOOK_CHARACTERS) {
          writer.note('lorebook', 'changed', 'too_many', String(passages.length))
          break
        }
        const line = cut(oneLine(heading), MAX_NAME)
        passages.push({ heading: line === '' ? null : line, page: null, text: clean })
      }
      if (passages.length === 0) return
      const text = passages
        .map(({ heading, text }) => (heading === null ? text : `## ${heading}\n\n${text}`))
        .join('\n\n')
      draft.files.push({ path, text: `${text}\n`, passages })
      writer.note('lorebook', 'changed', 'in_file', path)
    },

    leaveOut(part, reason, names) {
      if (names.length > 0) writer.note(part, 'left_out', reason, names.join(', '))
    },
  }
  return writer
}
