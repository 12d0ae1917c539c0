// The messages from the reader of an import to the server: conversations and everything around them, in small portions.
import type { Database } from '../db/database.ts'
import type { Citation } from '../protocol/conversations/citation.ts'
import type { Feedback } from '../protocol/conversations/message.ts'
import type { ImportFormat } from '../protocol/conversations/transfer.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'
import type { MessageId } from '../protocol/ids.ts'
import type { Plan } from '../protocol/runs/plan.ts'
import type { StoredReceipt } from '../protocol/runs/receipt.ts'
import type { Step } from '../protocol/runs/step.ts'
import type { BundledSchedule } from './bundled-schedules.ts'

type MessageColumns = Database['tables']['messages']['$inferSelect']
type ConversationColumns = Database['tables']['conversations']['$inferSelect']

/** A file of the import, unpacked to `path`; the receiver removes it. */
export type ImportedFile = { name: string; path: string }

/** A message of an import. */
export type ImportedMessage = Pick<
  MessageColumns,
  | 'id'
  | 'parentId'
  | 'role'
  | 'text'
  | 'tokenCount'
  | 'model'
  | 'status'
  | 'error'
  | 'origin'
  | 'createdAt'
> & {
  steps: Step[]
  files: ImportedFile[]
  editedFrom?: MessageId | undefined
  feedback?: Feedback | undefined
  receipt?: StoredReceipt | undefined
  plan?: Plan | undefined
  citations?: readonly Citation[] | undefined
}

/** A conversation of an import, without its messages. */
export type ImportedConversation = Pick<
  ConversationColumns,
  | 'title'
  | 'model'
  | 'systemPrompt'
  | 'temperature'
  | 'maxTokens'
  | 'thinkingEnabled'
  | 'pinned'
  | 'archived'
  | 'tags'
  | 'createdAt'
  | 'updatedAt'
> & {
  /** The source and the conversation's id there: `chatgpt:…`. */
  origin: string
  leafId: MessageId | null
  /** Names the project of an earlier item. */
  project: string | null
}

/** A passage of an imported document. */
export type ImportedPassage = { heading: string | null; page: number | null; text: string }

/** The messages of a conversation follow it in one or more items; the next item after them begins something else. */
export type ImportItem =
  | { type: 'conversation'; conversation: ImportedConversation }
  | { type: 'messages'; messages: ImportedMessage[]; isLast: boolean }
  | { type: 'project'; key: string; name: string; description: string | null }
  /** The files of the preceding conversation, which has no project; files and documents name its key. */
  | { type: 'conversation_files'; key: string; title: string }
  | { type: 'project_file'; project: string; path: string; file: ImportedFile }
  | {
      type: 'document'
      project: string
      name: string
      mime: string
      /** The file of the project that it is. */
      path?: string | undefined
      passages: ImportedPassage[]
    }
  | { type: 'memory'; content: string }
  | { type: 'schedule'; schedule: BundledSchedule }
  /** A skill of the user; `name` of a file is its path in the skill. */
  | { type: 'skill'; name: string; files: ImportedFile[] }
  /** `ofConversation`: part of the preceding conversation. */
  | { type: 'skipped'; what: string; failure: DescribedFailure; ofConversation?: boolean }

/** `skip`: the rest of the current conversation is not wanted. */
export type ReaderRequest =
  | { type: 'open'; file: string; folder: string; format: ImportFormat | null; maxBytes: number }
  | { type: 'next'; skip: boolean }

/** A message from the worker thread that reads an import. */
export type ReaderReply =
  | { type: 'opened'; format: ImportFormat; total: number }
  /** `done`: bytes read so far. Without items, the import is complete. */
  | { type: 'items'; items: ImportItem[]; done: number }
  /** The whole import fails. */
  | { type: 'failed'; failure: DescribedFailure }

/** Ends the reading of a whole import, or of a part of it, for a reason that is shown to a person. */
export class ImportFault extends Error {
  readonly failure: DescribedFailure
  constructor(failure: DescribedFailure) {
    super(failure.message)
    this.name = 'ImportFault'
    this.failure = failure
  }
}

/** Limits of a single conversation. */
export const MAX_CONVERSATION_BYTES = 128 * 1024 * 1024
export const MAX_CONVERSATION_TEXT = '128 MB'
export const MAX_MESSAGES = 100_000
