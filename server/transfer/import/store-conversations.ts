// Stores the conversations of an import, portion by portion, so that no transaction blocks others for long.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Database, Writer } from '../../db/database.ts'
import type { CompleteMessage } from '../../db/repositories/conversations/message-import.ts'
import { fromStep } from '../../db/repositories/conversations/steps.ts'
import type { FileRow } from '../../db/repositories/projects/files.ts'
import type { Store } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import type { FileService } from '../../files/files.ts'
import { newId } from '../../lib/ids.ts'
import { Tag, Tags } from '../../protocol/conversations/conversation.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { ConversationId, type ProjectId, type UserId } from '../../protocol/ids.ts'
import { type TextStorage, textBytes } from '../../sharing/text-storage.ts'
import {
  type ImportedConversation,
  type ImportedFile,
  type ImportedMessage,
  ImportFault,
} from '../import-items.ts'
import type { ReportWriter } from '../import-report.ts'

/** The dependencies for storing imported conversations. */
export interface ConversationStoring {
  database: Pick<Database, 'write'>
  store: Pick<Store, 'conversations' | 'messageImport' | 'transfers'>
  files: Pick<FileService, 'upload'>
  storage: TextStorage
  /** Whether conversations can use this model; otherwise the import uses the default. */
  hasModel(id: string): Promise<boolean>
}

/** Stores imported conversations, one after another. */
export interface ConversationWriter {
  /** Begins a conversation. @returns whether it is wanted; false if it was imported before. */
  begin(given: ImportedConversation): Promise<boolean>
  /** Stores messages of the conversation, or removes their files when it is not wanted. */
  add(messages: readonly ImportedMessage[], isLast: boolean): Promise<void>
  /** Whether the conversation begun last was wanted. */
  isWanted(): boolean
  /** The conversation begun last; null when it was not wanted or is incomplete. */
  completedId(): ConversationId | null
  /** The conversation completed last. */
  lastId(): ConversationId | null
  /** Removes a conversation that is incomplete, and ends the claims of the import. */
  discard(): Promise<void>
}

const OWN_ORIGIN = 'nanoclaw:'
const MAX_TAGS = 20
const MAX_TAG_CHARACTERS = 50

/** What an import has stored. */
interface WriterState extends ConversationStoring {
  report: ReportWriter
  projectOf(key: string): ProjectId | null
  readonly userId: UserId
  open: { given: ImportedConversation; id: ConversationId | null; messages: number } | null
  lastId: ConversationId | null
  readonly holder: string
  claim: ((bytes: number) => Promise<void>) | null
  isWanted: boolean
}

/**
 * Until a conversation is complete it is temporary: in no list, and purged if the process dies. The text counts as text from
 * outside: the conversation is tainted. Its approval mode and grants are those of a new conversation.
 * @param projectOf the project of an imported key; null when there is none.
 */
export function createConversationWriter(
  options: ConversationStoring,
  userId: UserId,
  output: { report: ReportWriter; projectOf(key: string): ProjectId | null },
): ConversationWriter {
  const writer: WriterState = {
    ...options,
    ...output,
    userId,
    open: null,
    lastId: null,
    holder: newId<string>(),
    claim: null,
    isWanted: false,
  }
  return {
    begin: (conversation) => begin(writer, conversation),

    isWanted: () => writer.isWanted,

    add: (messages, isLast) => add(writer, messages, isLast),

    completedId: () => (writer.isWanted && writer.open === null ? writer.lastId : null),

    lastId: () => writer.lastId,

    async discard() {
      const id = writer.open?.id ?? null
      writer.open = null
      if (id !== null) await writer.store.conversations.remove(writer.userId, id)
      writer.storage.release(writer.holder)
    },
  }
}

async function createRow(
  writer: WriterState,
  tx: Writer,
  given: ImportedConversation,
): Promise<ConversationId> {
  const { id } = await writer.store.conversations.createIn(tx, writer.userId, {
    title: given.title,
    model: given.model,
    projectId: given.project === null ? null : writer.projectOf(given.project),
    systemPrompt: given.systemPrompt,
    temperature: given.temperature,
    maxTokens: given.maxTokens,
    thinkingEnabled: given.thinkingEnabled,
    tags: tagsOf(given.tags),
    temporary: true,
  })
  await writer.store.conversations.markTainted(tx, id)
  return id
}

/** @throws ImportFault when the storage of the user has no room for the texts. */
async function claimTexts(
  writer: WriterState,
  messages: readonly CompleteMessage[],
): Promise<void> {
  try {
    writer.claim ??= await writer.storage.claimTexts(writer.userId, writer.holder)
    await writer.claim(await textBytes(messages))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'quota_exceeded') throw error
    throw new ImportFault(storedFailure('import_storage_full'))
  }
}

/** The files of a message as rows; those that this server refuses are left out, with the reason in the report. */
async function storeFiles(writer: WriterState, given: readonly ImportedFile[]): Promise<FileRow[]> {
  const rows: FileRow[] = []
  for (const { name, path } of given) {
    try {
      rows.push(
        await writer.files.upload(writer.userId, {
          name,
          content: createReadStream(path),
          isCut: () => false,
        }),
      )
      writer.report.count('files')
    } catch (error) {
      // Without its storage, the import ends instead of leaving out every file.
      if (!(error instanceof AppError) || error.code === 'store_unavailable') throw error
      writer.report.skip(name, storedFailure('import_file_refused', { detail: error.message }))
    } finally {
      await rm(path, { force: true })
    }
  }
  return rows
}

async function begin(writer: WriterState, given: ImportedConversation): Promise<boolean> {
  writer.open = null
  writer.isWanted = false
  const ownId = given.origin.startsWith(OWN_ORIGIN)
    ? ConversationId.safeParse(given.origin.slice(OWN_ORIGIN.length))
    : null
  const there = await writer.store.transfers.findByOrigin(
    writer.userId,
    given.origin,
    ownId?.success === true ? ownId.data : null,
  )
  if (there !== undefined) {
    const reason = there.deletedAt === null ? 'import_already_there' : 'import_in_trash'
    writer.report.skip(given.title, storedFailure(reason))
    return false
  }
  const model = given.model !== null && (await writer.hasModel(given.model)) ? given.model : null
  writer.open = { given: { ...given, model }, id: null, messages: 0 }
  writer.isWanted = true
  return true
}

async function add(
  writer: WriterState,
  messages: readonly ImportedMessage[],
  isLast: boolean,
): Promise<void> {
  if (writer.open === null) {
    for (const message of messages)
      for (const { path } of message.files) await rm(path, { force: true })
    return
  }
  const current = writer.open
  const rows: { message: ImportedMessage; files: FileRow[] }[] = []
  for (const message of messages)
    rows.push({ message, files: await storeFiles(writer, message.files) })
  const complete = rows.map(toComplete)
  await claimTexts(writer, complete)
  const prepared = await writer.store.messageImport.prepare(writer.userId, complete)
  current.id = await writer.database.write(async (tx) => {
    const id = current.id ?? (await createRow(writer, tx, current.given))
    await writer.store.messageImport.insert(tx, writer.userId, id, prepared)
    const { leafId, pinned, archived, createdAt, updatedAt, origin } = current.given
    if (isLast)
      await writer.store.conversations.completeImport(tx, id, {
        leafId,
        pinned,
        archived,
        createdAt,
        updatedAt,
        origin,
        temporary: false,
      })
    return id
  })
  current.messages += messages.length
  if (!isLast) return
  writer.report.count('conversations')
  writer.report.count('messages', current.messages)
  writer.lastId = current.id
  writer.open = null
}

function toComplete({
  message,
  files,
}: {
  message: ImportedMessage
  files: readonly FileRow[]
}): CompleteMessage {
  const { steps, files: _files, ...columns } = message
  return {
    message: { ...columns, runId: null },
    // A hostile file may have two steps at one position.
    steps: [...new Map(steps.map((step) => [step.index, fromStep(message.id, step)])).values()],
    files,
  }
}

/** The tags of another program, within the limits of this one. */
const tagsOf = (given: readonly string[]): string[] =>
  Tags.parse(
    given
      .map((tag) => tag.trim().slice(0, MAX_TAG_CHARACTERS))
      .filter((tag) => Tag.safeParse(tag).success)
      .slice(0, MAX_TAGS),
  )
