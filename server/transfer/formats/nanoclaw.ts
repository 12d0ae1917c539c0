// Conversations in NanoClaw's own format, from a bundle or exported individually. Nothing is assembled or left out.
import { AppError } from '../../errors.ts'
import { BundledConversation } from '../../protocol/conversations/export.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { importedOrigin } from '../../protocol/runs/origin.ts'
import { importedReceipt } from '../../protocol/runs/receipt.ts'
import { endedStatus, newIds } from '../../sharing/imported-messages.ts'
import type { Assembled } from '../assemble.ts'
import type { DraftFile } from '../draft.ts'
import { ImportFault, MAX_MESSAGES } from '../import-items.ts'

/** The entry of a bundle with the content of a file. */
export const fileEntry = (sha256: string): string => `files/${sha256}`

/** @throws ZodError for anything but a conversation; ImportFault for messages that do not form a tree. */
export async function readNanoClaw(
  value: unknown,
  hasEntry: (name: string) => boolean,
): Promise<Assembled> {
  if (isLong(value))
    throw new ImportFault(storedFailure('import_too_many_messages', { limit: MAX_MESSAGES }))
  const { conversation: given, messages } = BundledConversation.parse(value)
  const idOf = await newIds(messages, given.leaf_id).catch(toFault)
  const sourceId = given.id ?? messages[0]?.id ?? given.created_at
  return {
    conversation: {
      origin: given.origin ?? `nanoclaw:${sourceId}`,
      title: given.title,
      model: given.model,
      systemPrompt: given.system_prompt,
      temperature: given.temperature,
      maxTokens: given.max_tokens,
      thinkingEnabled: given.thinking_enabled,
      pinned: given.pinned,
      archived: given.archived,
      tags: given.tags,
      createdAt: new Date(given.created_at),
      updatedAt: new Date(given.updated_at),
      leafId: given.leaf_id === null ? null : idOf(given.leaf_id),
      project: given.project_id ?? null,
    },
    messages: messages.map((message) => ({
      id: idOf(message.id),
      parentId: message.parent_id === null ? null : idOf(message.parent_id),
      role: message.role,
      text: message.text,
      tokenCount: message.token_count,
      model: message.model,
      status: endedStatus(message.status),
      error: message.error,
      origin: importedOrigin(message.origin),
      createdAt: new Date(message.created_at),
      steps: message.steps,
      editedFrom: message.edited_from === undefined ? undefined : idOf(message.edited_from),
      feedback: message.feedback,
      receipt:
        message.receipt === undefined
          ? undefined
          : importedReceipt(message.receipt, message.acted ?? false),
      plan: message.plan,
      citations: message.citations,
      files: message.attachments.map((file): DraftFile => {
        const { name } = file
        if ('data' in file) return { name, base64: file.data }
        if ('content' in file) return { name, text: file.content }
        const entry = fileEntry(file.sha256)
        return hasEntry(entry) ? { name, entry } : { name, missing: true }
      }),
    })),
    skipped: [],
  }
}

const isLong = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'messages' in value &&
  Array.isArray(value.messages) &&
  value.messages.length > MAX_MESSAGES

function toFault(error: unknown): never {
  if (!(error instanceof AppError)) throw error
  const { detail = '' } = error.params ?? {}
  throw new ImportFault(
    detail === 'cycle'
      ? storedFailure('import_cycle')
      : storedFailure('import_unreadable', { detail: String(detail) }),
  )
}
