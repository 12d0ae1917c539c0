// Copies the shown branch of a conversation into a share, with only what its owner chose to include.
import type { Database } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { SharedMessage, SharedStep, ShareInclude } from '../protocol/conversations/share.ts'
import { citedSources } from './cited-sources.ts'
import { type AnyText, contentOf, piecesOf, readShownBranch, textOf } from './read-conversation.ts'
import { wellFormed } from './well-formed.ts'

/** Maximum characters of all messages, and bytes of all files, of one share. */
const MAX_CHARACTERS = 10_000_000
const MAX_FILE_BYTES = 100_000_000
/** Bytes of messages that are claimed together. */
const CLAIMED_AT_ONCE = 256 * 1024

/**
 * @param to.claim reserves storage for texts.
 * @throws AppError `share_too_large`, or the quota's refusal.
 */
export async function copyBranch(
  { database, store }: { database: Database; store: Store },
  conversation: ConversationRow,
  to: {
    shareId: string
    revision: string
    include: readonly ShareInclude[]
    claim(bytes: number): Promise<void>
  },
): Promise<void> {
  const { shareId, revision, include, claim } = to
  let unclaimed = 0
  let characters = 0
  let bytes = 0
  let position = 0
  let fileId = 0
  const whole = async (text: AnyText): Promise<string> => {
    let read = ''
    for await (const piece of piecesOf(text)) {
      characters += piece.length
      if (characters > MAX_CHARACTERS) throw appError('share_too_large')
      read += piece
    }
    return read
  }
  const stepOf = async (
    message: FullMessage,
    step: FullMessage['steps'][number],
  ): Promise<SharedStep> => {
    const content = await whole(contentOf(message, step))
    if (step.type === 'tool_call') return { type: step.type, name: step.name, arguments: content }
    if (step.type === 'tool_result') return { type: step.type, name: step.name, content }
    return { type: step.type, content }
  }
  const isShown = ({ type }: { type: SharedStep['type'] }): boolean =>
    type === 'text' || include.includes(type === 'thinking' ? 'thinking' : 'tools')

  for await (const message of readShownBranch(store, conversation)) {
    const files = include.includes('files')
      ? message.attachments.map((file) => ({ file, id: fileId++ }))
      : []
    for (const { file } of files) bytes += file.size
    if (bytes > MAX_FILE_BYTES) throw appError('share_too_large')
    const steps: SharedStep[] = []
    for (const step of message.steps) if (isShown(step)) steps.push(await stepOf(message, step))
    if (message.role === 'assistant' && message.steps.length === 0)
      steps.push({ type: 'text', content: await whole(textOf(message)) })
    // Names of documents are no part of the texts.
    const sources = citedSources(message).filter(
      ({ url }) => url !== undefined || include.includes('tools'),
    )
    const shared: SharedMessage = {
      role: message.role,
      created_at: message.createdAt.toISOString(),
      text: message.role === 'user' ? await whole(textOf(message)) : '',
      steps,
      files: files.map(({ file: { name, mime, size }, id }) => ({ id, name, mime, size })),
      ...(sources.length === 0 ? {} : { sources }),
    }
    const content = JSON.stringify(wellFormed(shared))
    unclaimed += ROW_BYTES + Buffer.byteLength(content)
    if (unclaimed >= CLAIMED_AT_ONCE) {
      await claim(unclaimed)
      unclaimed = 0
    }
    const at = position++
    await database.write(async (tx) => {
      await store.shares.addMessage(tx, { shareId, revision, position: at, content })
      for (const { file, id } of files)
        await store.shares.addFile(
          tx,
          { shareId, revision, position: id },
          { messageId: message.id, position: file.position },
        )
    })
  }
  await claim(unclaimed)
}
