// Stores a conversation from its JSON form as a new conversation of a user.
import type { Database } from '../db/database.ts'
import type { CompleteMessage } from '../db/repositories/conversations/message-import.ts'
import { fromStep } from '../db/repositories/conversations/steps.ts'
import type { FileRow } from '../db/repositories/projects/files.ts'
import type { Store } from '../db/store.ts'
import { createTurns } from '../lib/turns.ts'
import type { ExportedConversation, ExportedMessage } from '../protocol/conversations/export.ts'
import type { Attachment } from '../protocol/conversations/message.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import { importedOrigin } from '../protocol/runs/origin.ts'
import { importedReceipt } from '../protocol/runs/receipt.ts'
import { endedStatus, newIds } from './imported-messages.ts'
import { type TextStorage, textBytes } from './text-storage.ts'
import { wellFormed } from './well-formed.ts'

/** Characters and messages of one transaction, so that no transaction blocks others for long. */
const BATCH_CHARACTERS = 100_000
const BATCH_MESSAGES = 200

/** The dependencies of an import. */
export interface ImportDependencies {
  database: Database
  store: Store
  files: {
    /** Stores an attachment. @throws AppError the quota's refusal. */
    addInline(userId: UserId, attachment: Attachment): Promise<FileRow>
    remove(userId: UserId, id: FileRow['id']): Promise<unknown>
  }
  storage: TextStorage
  /** Whether conversations can use this model; otherwise the import uses the default. */
  hasModel(id: string): Promise<boolean>
}

/**
 * Messages get new ids; times, branches, steps and attachments stay. The text counts as text from outside, so the new
 * conversation is tainted. Its approval mode, grants and project are those of a new conversation. Until it is complete it is
 * temporary: in no list, and purged if the process dies. Works in short turns of the event loop.
 * @throws AppError `import_invalid` for messages that are not a tree, or the quota's refusal; then nothing is left.
 */
export async function importJson(
  { database, store, files, storage, hasModel }: ImportDependencies,
  userId: UserId,
  { conversation: given, messages }: ExportedConversation,
): Promise<{ id: ConversationId; messages: number }> {
  const conversation = wellFormed(given)
  const idOf = await newIds(messages, conversation.leaf_id)
  const { model } = conversation
  const { id } = await store.conversations.create(userId, {
    title: conversation.title,
    model: model !== null && (await hasModel(model)) ? model : null,
    systemPrompt: conversation.system_prompt,
    temperature: conversation.temperature,
    maxTokens: conversation.max_tokens,
    thinkingEnabled: conversation.thinking_enabled,
    tags: conversation.tags,
    temporary: true,
  })
  const stored: FileRow[] = []
  const turn = createTurns()

  async function complete(message: ExportedMessage): Promise<CompleteMessage> {
    const own: CompleteMessage['files'][number][] = []
    for (const attachment of message.attachments) {
      const inline = wellFormed(attachment)
      const row = await files.addInline(userId, inline)
      stored.push(row)
      own.push({ ...row, extension: 'content' in inline ? (inline.extension ?? null) : null })
    }
    const { steps: givenSteps, attachments: _attachments, ...columns } = message
    const { role, text, token_count, model, status, error, created_at, edited_from, feedback } =
      wellFormed(columns)
    const { receipt, acted, plan, citations, origin } = wellFormed(columns)
    const messageId = idOf(message.id)
    const steps = []
    for (const step of givenSteps) {
      steps.push(fromStep(messageId, wellFormed(step)))
      await turn()
    }
    return {
      message: {
        id: messageId,
        parentId: message.parent_id === null ? null : idOf(message.parent_id),
        role,
        text,
        tokenCount: token_count,
        model,
        runId: null,
        status: endedStatus(status),
        error,
        origin: importedOrigin(origin),
        createdAt: new Date(created_at),
        editedFrom: edited_from === undefined ? undefined : idOf(edited_from),
        feedback,
        receipt: receipt === undefined ? undefined : importedReceipt(receipt, acted ?? false),
        plan,
        citations,
      },
      steps,
      files: own,
    }
  }

  try {
    const claim = await storage.claimTexts(userId, id)
    await database.write((tx) => store.conversations.markTainted(tx, id))
    for await (const batch of batches(messages, complete)) {
      await claim(await textBytes(batch))
      const prepared = await store.messageImport.prepare(userId, batch)
      await database.write((tx) => store.messageImport.insert(tx, userId, id, prepared))
    }
    await database.write((tx) =>
      store.conversations.completeImport(tx, id, {
        leafId: conversation.leaf_id === null ? null : idOf(conversation.leaf_id),
        pinned: conversation.pinned,
        archived: conversation.archived,
        createdAt: new Date(conversation.created_at),
        updatedAt: new Date(conversation.updated_at),
        temporary: false,
      }),
    )
  } catch (error) {
    await store.conversations.remove(userId, id)
    for (const file of stored) await files.remove(userId, file.id)
    throw error
  } finally {
    storage.release(id)
  }
  return { id, messages: messages.length }
}

async function* batches(
  messages: readonly ExportedMessage[],
  complete: (message: ExportedMessage) => Promise<CompleteMessage>,
): AsyncGenerator<CompleteMessage[]> {
  let batch: CompleteMessage[] = []
  let size = 0
  for (const given of messages) {
    const one = await complete(given)
    batch.push(one)
    size += one.message.text.length
    for (const { content } of one.steps) size += content.length
    if (size < BATCH_CHARACTERS && batch.length < BATCH_MESSAGES) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}
