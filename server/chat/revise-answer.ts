// Edits the text of an answer. The edited text becomes another answer to the same question.
import type { Database } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { createTurns } from '../lib/turns.ts'
import { UNFINISHED_STATUSES } from '../protocol/conversations/message.ts'
import type { MessageId } from '../protocol/ids.ts'
import type { TextCounter } from '../runs/dependencies.ts'
import { MESSAGE_DEFAULTS } from '../runs/start/row-defaults.ts'

/**
 * Creates a sibling of the answer whose last text is replaced by the new text, and shows it. Thinking and tool calls are
 * copied, so that the conversation continues with them. Returns the id of the sibling.
 * @throws AppError if there is no such answer, it is not complete yet, or the user's storage is full.
 */
export async function reviseAnswer(
  {
    database,
    store,
    storage,
    now,
  }: { database: Database; store: Store; storage: TextCounter; now(): Date },
  {
    conversation,
    messageId,
    text,
  }: { conversation: Pick<ConversationRow, 'id' | 'userId'>; messageId: MessageId; text: string },
): Promise<MessageId> {
  const { id: conversationId, userId } = conversation
  const id = newId<MessageId>()
  const steps = await store.steps.list(messageId)
  const lastText = steps.findLast(({ type }) => type === 'text')
  // The copy may be much longer than the text that was sent.
  let copiedBytes = 0
  const turn = createTurns()
  for (const { content, artifact } of steps) {
    copiedBytes += Buffer.byteLength(content)
    if (artifact === null) continue
    copiedBytes += Buffer.byteLength(JSON.stringify(artifact))
    await turn()
  }
  await storage.countText(userId, Buffer.byteLength(text) + copiedBytes)
  await database.write(async (tx) => {
    if ((await store.messages.lockLeaf(tx, conversationId)) === undefined)
      throw appError('conversation_not_found')
    const original = await store.messages.findAttached(tx, conversationId, messageId)
    if (original === undefined) throw appError('message_not_found')
    if (original.role !== 'assistant') throw appError('only_answers_revisable')
    if (UNFINISHED_STATUSES.includes(original.status)) throw appError('answer_not_finished')
    await store.messages.insert(tx, userId, [
      {
        ...MESSAGE_DEFAULTS,
        id,
        conversationId,
        parentId: original.parentId,
        role: 'assistant',
        text,
        model: original.model,
        createdAt: now(),
      },
    ])
    await store.messages.setMarks(tx, id, { editedFrom: messageId })
    // The words are others; what the answer did, planned and cited stays.
    await store.messages.copyDeeds(tx, messageId, id)
    const copied = steps.filter(({ closed }) => closed)
    // On SQLite the open transaction waits meanwhile, but no reader sees it.
    const pause = createTurns()
    for (const step of copied) {
      await pause()
      await store.steps.store(tx, userId, {
        ...step,
        messageId: id,
        content: step === lastText ? text : step.content,
      })
    }
    if (lastText === undefined || !copied.includes(lastText))
      await store.steps.store(tx, userId, {
        messageId: id,
        position: (steps.at(-1)?.position ?? -1) + 1,
        type: 'text',
        content: text,
        skipped: false,
        closed: true,
      })
  })
  return id
}
