// Stores the conversations of an import, portion by portion, so that no transaction blocks others for long.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Database, Writer } from '../db/database.ts'
import type { CompleteMessage } from '../db/repositories/conversations/message-import.ts'
import { fromStep } from '../db/repositories/conversations/steps.ts'
import type { FileRow } from '../db/repositories/projects/files.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { FileService } from '../files/files.ts'
import { newId } from '../lib/ids.ts'
import { Tag, Tags } from '../protocol/conversations/conversation.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import { ConversationId, type ProjectId, type UserId } from '../protocol/ids.ts'
import { type TextStorage, textBytes } from '../sharing/text-storage.ts'
import {
  type ImportedConversation,
  type ImportedFile,
  type ImportedMessage,
  ImportFault,
} from './import-items.ts'
import type { ReportWriter } from './import-report.ts'

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
  /** The conversation completed last. */
  lastId(): ConversationId | null
  /** Removes a conversation that is incomplete, and ends the claims of the import. */
  discard(): Promise<void>
}

const OWN_ORIGIN = 'nanoclaw:'
const MAX_TAGS = 20
const MAX_TAG_CHARACTERS = 50

/**
 * Until a conversation is complete it is temporary: in no list, and purged if the process dies. The text counts as text from
 * outside: the conversation is tainted. Its approval mode and grants are those of a new conversation.
 * @param projectOf the project of an imported key; null when there is none.
 */
export function createConversationWriter(
  { database, store, files, storage, hasModel }: ConversationStoring,
  userId: UserId,
  { report, projectOf }: { report: ReportWriter; projectOf(key: string): ProjectId | null },
): ConversationWriter {
  let open: { given: ImportedConversation; id: ConversationId | null; messages: number } | null =
    null
  let lastId: ConversationId | null = null
  const holder = newId<string>()
  let claim: ((bytes: number) => Promise<void>) | null = null
  let isWanted = false

  async function createRow(tx: Writer, given: ImportedConversation): Promise<ConversationId> {
    const { id } = await store.conversations.createIn(tx, userId, {
      title: given.title,
      model: given.model,
      projectId: given.project === null ? null : projectOf(given.project),
      systemPrompt: given.systemPrompt,
      temperature: given.temperature,
      maxTokens: given.maxTokens,
      thinkingEnabled: given.thinkingEnabled,
      tags: tagsOf(given.tags),
      temporary: true,
    })
    await store.conversations.markTainted(tx, id)
    return id
  }

  /** @throws ImportFault when the storage of the user has no room for the texts. */
  async function claimTexts(messages: readonly CompleteMessage[]): Promise<void> {
    try {
      claim ??= await storage.claimTexts(userId, holder)
      await claim(textBytes(messages))
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'quota_exceeded') throw error
      throw new ImportFault(storedFailure('import_storage_full'))
    }
  }

  /** The files of a message as rows; those that this server refuses are left out, with the reason in the report. */
  async function storeFiles(given: readonly ImportedFile[]): Promise<FileRow[]> {
    const rows: FileRow[] = []
    for (const { name, path } of given) {
      try {
        rows.push(
          await files.upload(userId, {
            name,
            content: createReadStream(path),
            isCut: () => false,
          }),
        )
        report.count('files')
      } catch (error) {
        // Without its storage, the import ends instead of leaving out every file.
        if (!(error instanceof AppError) || error.code === 'store_unavailable') throw error
        report.skip(name, storedFailure('import_file_refused', { detail: error.message }))
      } finally {
        await rm(path, { force: true })
      }
    }
    return rows
  }

  return {
    async begin(given) {
      open = null
      isWanted = false
      const ownId = given.origin.startsWith(OWN_ORIGIN)
        ? ConversationId.safeParse(given.origin.slice(OWN_ORIGIN.length))
        : null
      const there = await store.transfers.findByOrigin(
        userId,
        given.origin,
        ownId?.success === true ? ownId.data : null,
      )
      if (there !== undefined) {
        const reason = there.deletedAt === null ? 'import_already_there' : 'import_in_trash'
        report.skip(given.title, storedFailure(reason))
        return false
      }
      const model = given.model !== null && (await hasModel(given.model)) ? given.model : null
      open = { given: { ...given, model }, id: null, messages: 0 }
      isWanted = true
      return true
    },

    isWanted: () => isWanted,

    async add(messages, isLast) {
      if (open === null) {
        for (const message of messages)
          for (const { path } of message.files) await rm(path, { force: true })
        return
      }
      const current = open
      const rows: { message: ImportedMessage; files: FileRow[] }[] = []
      for (const message of messages) rows.push({ message, files: await storeFiles(message.files) })
      const complete = rows.map(toComplete)
      await claimTexts(complete)
      const prepared = await store.messageImport.prepare(userId, complete)
      current.id = await database.write(async (tx) => {
        const id = current.id ?? (await createRow(tx, current.given))
        await store.messageImport.insert(tx, userId, id, prepared)
        const { leafId, pinned, archived, createdAt, updatedAt, origin } = current.given
        if (isLast)
          await store.conversations.completeImport(tx, id, {
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
      report.count('conversations')
      report.count('messages', current.messages)
      lastId = current.id
      open = null
    },

    lastId: () => lastId,

    async discard() {
      const id = open?.id ?? null
      open = null
      if (id !== null) await store.conversations.remove(userId, id)
      storage.release(holder)
    },
  }
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
