// Stores a conversation from its JSON form as a new conversation of a user.
import type { Database } from '../db/database.ts'
import { fromStep } from '../db/repositories/conversations/steps.ts'
import type { Store } from '../db/store.ts'
import type { ExportedConversation, ExportedMessage } from '../protocol/conversations/export.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import { endedStatus, newIds } from './imported-messages.ts'
import { wellFormed } from './well-formed.ts'

/** Characters of messages in one transaction, so that no transaction blocks others for long. */
const BATCH_CHARACTERS = 200_000

/** The dependencies of an import. */
export interface ImportDependencies {
  database: Database
  store: Store
  /** Whether conversations can use this model; otherwise the import uses the default. */
  hasModel(id: string): Promise<boolean>
}

/**
 * Messages get new ids; times, branches, steps and attachments stay. The text counts as text from outside, so the new
 * conversation is tainted. Its approval mode, grants and project are those of a new conversation.
 * @throws AppError `import_invalid` for messages that are not a tree.
 */
export async function importJson(
  { database, store, hasModel }: ImportDependencies,
  userId: UserId,
  given: ExportedConversation,
): Promise<{ id: ConversationId; messages: number }> {
  const { conversation, messages } = wellFormed(given)
  const idOf = newIds(messages, conversation.leaf_id)
  const { model } = conversation
  const { id } = await store.conversations.create(userId, {
    title: conversation.title,
    model: model !== null && (await hasModel(model)) ? model : null,
    systemPrompt: conversation.system_prompt,
    temperature: conversation.temperature,
    maxTokens: conversation.max_tokens,
    thinkingEnabled: conversation.thinking_enabled,
    tags: conversation.tags,
    // Until it is complete: lists leave temporary conversations out, and what a dead process left of one is removed.
    temporary: true,
  })
  try {
    await database.write((tx) => store.conversations.markTainted(tx, id))
    for (const batch of batches(messages))
      await database.write(async (tx) => {
        for (const message of batch) {
          const messageId = idOf(message.id)
          const row = {
            id: messageId,
            conversationId: id,
            parentId: message.parent_id === null ? null : idOf(message.parent_id),
            role: message.role,
            text: message.text,
            tokenCount: message.token_count,
            model: message.model,
            runId: null,
            status: endedStatus(message.status),
            error: message.error,
            createdAt: new Date(message.created_at),
          }
          await store.messages.insert(tx, userId, [row], message.attachments)
          await store.messages.setMarks(tx, messageId, {
            editedFrom: message.edited_from && idOf(message.edited_from),
            feedback: message.feedback,
          })
          for (const step of message.steps)
            await store.steps.put(tx, userId, fromStep(messageId, step))
        }
      })
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
    throw error
  }
  return { id, messages: messages.length }
}

function* batches(messages: readonly ExportedMessage[]): Generator<ExportedMessage[]> {
  let batch: ExportedMessage[] = []
  let size = 0
  for (const message of messages) {
    batch.push(message)
    size += 1_000 + message.text.length
    for (const step of message.steps)
      size += 500 + (step.type === 'tool_call' ? step.arguments : step.content).length
    for (const file of message.attachments)
      size += 'data' in file ? file.data.length : file.content.length
    if (size < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}
