// Reads a conversation message by message, so that an export of any length costs the memory of one message.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import type { Store } from '../db/store.ts'
import type { LongJson, LongText } from '../lib/json-pieces.ts'
import { createTurns } from '../lib/turns.ts'
import type { MessageId } from '../protocol/ids.ts'

/** What reading a branch needs of the store. */
export type BranchStore = Pick<Store, 'messages' | 'messageOrder'>

/** What an export needs of the store. */
export type ExportStore = BranchStore & {
  attachments: {
    /** An attachment with its content: text, or an image as base64. */
    find(messageId: MessageId, position: number): Promise<{ content: LongText } | undefined>
  }
}

/** Says why no text was read from an attached file, in place of its text; undefined if it has some. */
export const unreadable = ({
  characters,
  failure,
}: FullMessage['attachments'][number]): string | undefined =>
  characters === 0 && failure !== null
    ? `No text could be read from this file: ${failure.message}.`
    : undefined

/** A text in one piece, or read in pieces because it is long. */
export type AnyText = string | LongText

/** The messages of the shown branch, oldest first. A message that is deleted in the meantime is left out. */
export async function* readShownBranch(
  store: BranchStore,
  { id, leafId }: Pick<ConversationRow, 'id' | 'leafId'>,
): AsyncGenerator<FullMessage> {
  if (leafId === null) return
  yield* readEach(store, id, await store.messageOrder.branchIds(id, leafId))
}

/** The messages of all branches, in the order of creation. */
export const readAllBranches = (
  store: BranchStore,
  { id }: Pick<ConversationRow, 'id'>,
): AsyncGenerator<FullMessage> => readEach(store, id, store.messageOrder.allIds(id))

async function* readEach(
  { messages }: BranchStore,
  conversationId: ConversationRow['id'],
  ids: Iterable<MessageId> | AsyncIterable<MessageId>,
): AsyncGenerator<FullMessage> {
  const turn = createTurns()
  for await (const id of ids) {
    await turn()
    const message = await messages.findFull(conversationId, id)
    if (message !== undefined) yield message
  }
}

/** The text of a message as a whole: of an answer without stored steps, or of a user. */
export const textOf = (message: FullMessage): AnyText =>
  message.longTexts.get('text') ?? message.text

/** The text, arguments or result of a step. */
export const contentOf = (message: FullMessage, step: FullMessage['steps'][number]): AnyText =>
  message.longTexts.get(step.index) ?? (step.type === 'tool_call' ? step.arguments : step.content)

/** The field with the artifact of a step, if it is read in pieces because it is long. */
export const artifactOf = (
  { longArtifacts }: FullMessage,
  { index }: FullMessage['steps'][number],
): { artifact?: LongJson } => {
  const artifact = longArtifacts.get(index)
  return artifact === undefined ? {} : { artifact }
}

/** The pieces of a text, whichever way it is stored. */
export async function* piecesOf(text: AnyText): AsyncGenerator<string> {
  if (typeof text === 'string') yield text
  else yield* text.readPieces()
}
