// A whole conversation as JSON: settings, all branches, steps and attachments, with their contents or in a bundle.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import { longJsonPieces } from '../lib/json-pieces.ts'
import { EXPORT_VERSION, type ExportedSettings } from '../protocol/conversations/export.ts'
import type { Receipt } from '../protocol/runs/receipt.ts'
import type { Receipts } from '../receipts/receipts.ts'
import {
  artifactOf,
  type BranchStore,
  contentOf,
  type ExportStore,
  readAllBranches,
  textOf,
  unreadable,
} from './read-conversation.ts'

/** What an export needs of the receipts. */
export type ReceiptReader = Pick<Receipts, 'read'>

/** JSON in the form of `ExportedConversation`, in pieces. Contains no ids of users or projects, and no keys. */
export const exportJson = (
  store: ExportStore,
  receipts: ReceiptReader,
  conversation: ConversationRow,
): AsyncGenerator<string> =>
  conversationJson(store, receipts, conversation, {
    settings: settingsOf(conversation),
    filesOf: (message) => contentsOf(store, message),
  })

/**
 * The same with the given settings and attachments.
 * @param form.filesOf the attachments of a message; contents may be long texts.
 */
export async function* conversationJson(
  store: BranchStore,
  receipts: ReceiptReader,
  conversation: Pick<ConversationRow, 'id' | 'userId'>,
  form: { settings: ExportedSettings; filesOf(message: FullMessage): Promise<unknown[]> },
): AsyncGenerator<string> {
  yield `{"format":"nanoclaw","version":${EXPORT_VERSION},"conversation":${JSON.stringify(form.settings)},"messages":[`
  let separator = '\n'
  for await (const message of readAllBranches(store, conversation)) {
    yield separator
    const receipt = await receiptOf(receipts, conversation, message)
    yield* longJsonPieces(toExported(message, await form.filesOf(message), receipt))
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** The settings of a conversation as an export has them. */
export const settingsOf = (row: ConversationRow): ExportedSettings => ({
  // The placeholder is not a title.
  title: row.titled ? row.title : '',
  model: row.model,
  system_prompt: row.systemPrompt,
  temperature: row.temperature,
  max_tokens: row.maxTokens,
  thinking_enabled: row.thinkingEnabled,
  pinned: row.pinned,
  archived: row.archived,
  leaf_id: row.leafId,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  id: row.id,
  tags: row.tags,
})

/** Attachments with their contents as long texts. */
async function contentsOf({ attachments }: ExportStore, message: FullMessage): Promise<unknown[]> {
  const files = []
  for (const attachment of message.attachments) {
    const { position, name, kind, mime, extension } = attachment
    const file = await attachments.find(message.id, position)
    if (file === undefined) continue
    files.push(
      kind === 'image'
        ? { name, mime, data: file.content }
        : {
            name,
            ...(extension === null ? {} : { extension }),
            content: unreadable(attachment) ?? file.content,
          },
    )
  }
  return files
}

/** The receipt of an answer with tool calls, as a copy; undefined for every other message. */
export async function receiptOf(
  receipts: ReceiptReader,
  { id: conversationId, userId }: Pick<ConversationRow, 'id' | 'userId'>,
  { id: messageId, role, steps, runId, receipt: stored }: FullMessage,
): Promise<Receipt | undefined> {
  // Without a run and a copy, nothing says what an imported answer did.
  if (runId === null && stored === null) return undefined
  if (role === 'user' || !steps.some(({ type }) => type === 'tool_call')) return undefined
  return await receipts.read({ userId, conversationId, messageId })
}

/** The form of `ExportedMessage`, with long texts that are read while they are written. */
const toExported = (message: FullMessage, files: unknown[], receipt: Receipt | undefined) => ({
  id: message.id,
  parent_id: message.parentId,
  role: message.role,
  text: textOf(message),
  token_count: message.tokenCount,
  model: message.model,
  status: message.status,
  error: message.error,
  ...(message.origin === null ? {} : { origin: message.origin }),
  created_at: message.createdAt.toISOString(),
  ...(message.editedFrom === null ? {} : { edited_from: message.editedFrom }),
  ...(message.feedback === null ? {} : { feedback: message.feedback }),
  ...(receipt === undefined
    ? {}
    : { receipt, ...(message.receipt === null ? {} : { acted: message.receipt.acted }) }),
  // The id of a person says nothing on another server.
  ...(message.plan === null ? {} : { plan: { ...message.plan, edited_by: null } }),
  ...(message.citations === null ? {} : { citations: message.citations }),
  attachments: files,
  steps: message.steps.map((step) => ({
    ...step,
    [step.type === 'tool_call' ? 'arguments' : 'content']: contentOf(message, step),
    ...artifactOf(message, step),
  })),
})
