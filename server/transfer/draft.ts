// A conversation as an export describes it, before its messages are assembled.
import { z } from 'zod'
import type { MessageStatus } from '../protocol/conversations/message.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { ImportedConversation } from './import-items.ts'

/** Where the bytes of an attachment come from: a file of the archive, or the conversation itself. */
export type DraftFile = { name: string } & (
  | { entry: string }
  | { text: string }
  | { base64: string }
  /** The export names the file but does not contain it. */
  | { missing: true }
)

/** A step without its position. The result of a call follows it in the same answer. */
export type DraftStep =
  | { type: 'thinking' | 'text'; content: string }
  | { type: 'tool_call'; callId: string | null; name: string; arguments: string }
  | { type: 'tool_result'; callId: string | null; name: string; content: string }

/** A node of an imported conversation, in the other program's structure. */
export interface DraftNode {
  id: string
  parentId: string | null
  /** `hidden`: not shown; its children belong to the nearest shown message above it. */
  role: 'user' | 'assistant' | 'hidden'
  /** The text of a user's message. */
  text: string
  /** The steps of an answer. */
  steps: DraftStep[]
  files: DraftFile[]
  model: string | null
  status: MessageStatus
  error: string | null
  /** Null: the time of the message above it. */
  createdAt: Date | null
}

/** A conversation as another program exported it, before its tree is assembled. Null means unknown. */
export interface Draft
  extends Pick<ImportedConversation, 'origin' | 'title' | 'model' | 'pinned' | 'archived' | 'tags'>,
    Partial<
      Pick<ImportedConversation, 'systemPrompt' | 'temperature' | 'maxTokens' | 'thinkingEnabled'>
    > {
  createdAt: Date | null
  updatedAt: Date | null
  nodes: DraftNode[]
  /** The node whose branch is shown. */
  leaf: string | null
  /** Parts that could not be imported. */
  skipped: { what: string; failure: DescribedFailure }[]
}

/** A node with the fields that most nodes have. */
export const draftNode = (
  node: Pick<DraftNode, 'id' | 'parentId' | 'role'> & Partial<DraftNode>,
): DraftNode => ({
  text: '',
  steps: [],
  files: [],
  model: null,
  status: 'completed',
  error: null,
  createdAt: null,
  ...node,
})

/** A time as the formats write it: seconds since 1970 with a fraction, milliseconds, or ISO 8601; null for anything else. */
export function timeOf(value: unknown): Date | null {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0)
    return validDate(new Date(value > 1e11 ? value : Math.round(value * 1000)))
  if (typeof value === 'string' && value !== '') {
    // A time without a zone is UTC.
    const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value)
    return validDate(new Date(isZoned ? value : `${value.replace(' ', 'T')}Z`))
  }
  return null
}

/** Years that both databases can store. */
const validDate = (date: Date): Date | null =>
  date.getTime() > 0 && date.getTime() < Date.UTC(3000, 0) ? date : null

/** A JSON object as text for the arguments of a call; anything else becomes the field `input`. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') {
    try {
      const parsed: unknown = JSON.parse(value)
      if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return value
    } catch {
      // Not JSON: wrapped below.
    }
    return JSON.stringify({ input: value })
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? JSON.stringify(value)
    : JSON.stringify({ input: value ?? null })
}

/** The result of a call in the form of this server's tools. */
export const resultText = (value: unknown): string =>
  JSON.stringify({ success: true, data: value ?? null })

/** The same for a call that failed. */
export const failureText = (error: string): string => JSON.stringify({ success: false, error })

const MAX_KINDS = 20
const MAX_KIND_CHARACTERS = 40
const MAX_TITLE_CHARACTERS = 100

/** Collects the kinds of parts that a format's reader does not know, for the report of the import. */
export function createUnknownKinds() {
  const kinds = new Set<string>()
  return {
    add(kind: string): void {
      if (kinds.size < MAX_KINDS) kinds.add(kind.trim().slice(0, MAX_KIND_CHARACTERS) || '?')
    },
    /** One entry of the report for all of them. */
    skipped(
      conversation: string,
      reason: 'import_marks_unknown' | 'import_parts_unknown',
    ): Draft['skipped'] {
      if (kinds.size === 0) return []
      const failure = storedFailure(reason, {
        conversation: conversation.slice(0, MAX_TITLE_CHARACTERS),
      })
      return [{ what: [...kinds].join(', '), failure }]
    },
  }
}
export type UnknownKinds = ReturnType<typeof createUnknownKinds>

/** A link in Markdown; only its words if the address is none that a page can open. */
export function linkTo(url: string, title: string): string {
  const words = title.replaceAll(/[[\]]/g, '').trim()
  if (!/^https?:\/\/[^\s<>()]+$/.test(url)) return words
  return `[${words === '' ? url : words}](${url})`
}

/** A text that may be absent; then ''. */
export const looseText = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? '')
export const looseFlag = z
  .boolean()
  .nullish()
  .catch(null)
  .transform((flag) => flag ?? false)
export const looseName = z
  .string()
  .min(1)
  .nullish()
  .catch(null)
  .transform((text) => text ?? null)

/** What `createMessageReader` returns. */
export type MessageReader<Schema extends z.ZodType> = ReturnType<typeof createMessageReader<Schema>>

/** Reads the messages of a conversation one by one, and keeps which could not be read. */
export function createMessageReader<Schema extends z.ZodType>(schema: Schema) {
  const skipped: Draft['skipped'] = []
  let number = 0
  const leftOut = (id: string, detail: string): void => {
    const what = id === '' ? `#${number}` : id.slice(0, MAX_TITLE_CHARACTERS)
    skipped.push({ what, failure: storedFailure('import_unreadable', { detail }) })
  }
  return {
    /** Null for what cannot be read. @param id under which people can find it; empty for its number. */
    read(given: unknown, id: string): z.output<Schema> | null {
      number += 1
      const read = schema.safeParse(given)
      if (read.success) return read.data
      leftOut(id, read.error.issues[0]?.path.join('.') || 'message')
      return null
    },
    /** The message was read, but who wrote it is not known. */
    unknownRole: (id: string): void => leftOut(id, 'role'),
    skipped,
  }
}
