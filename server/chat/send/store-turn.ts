// Stores what a run answers: a question with the empty answer, only another answer, or the messages of a program.
import type { Writer } from '../../db/database.ts'
import { inParallel } from '../../db/fragments.ts'
import type { AttachmentInfo } from '../../db/repositories/conversations/attachments.ts'
import type { HistoryMessage } from '../../db/repositories/conversations/branch-history.ts'
import type { ConversationRow } from '../../db/repositories/conversations/conversations.ts'
import type { MessageRow } from '../../db/repositories/conversations/messages.ts'
import type { FileRow } from '../../db/repositories/projects/files.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { type AppError, appError } from '../../errors.ts'
import type { NewAttachment } from '../../protocol/conversations/message.ts'
import type { ConversationId, MessageId, ProjectId } from '../../protocol/ids.ts'
import { storedOrigin } from '../../protocol/runs/origin.ts'
import { MESSAGE_DEFAULTS } from '../../runs/start/row-defaults.ts'
import { originOfRun } from '../../runs/state.ts'
import { bringsOutsideText, type ProgramTurn, storeProgramTurn } from '../program-turn.ts'

/** The position of a turn in the message tree, resolved in the transaction that stores the turn. */
export type TurnPosition =
  /** Below the shown leaf. */
  'leaf' | FixedPosition

type FixedPosition =
  /** Below this assistant message. */
  | { under: MessageId }
  /** As a sibling of this user message. */
  | { siblingOf: MessageId }

/** A user message to be stored with its run. */
interface NewUserMessage {
  kind: 'message'
  text: string
  /** New attachments, or those of another message. */
  attachments: readonly NewAttachment[] | { of: MessageId; stored: readonly AttachmentInfo[] }
  place: TurnPosition
}

/** Only an answer to this message. `beside`: the branch that is shown stays. */
interface NewAnswer {
  kind: 'answer'
  to: MessageId
  beside: boolean
}

/** What is stored with a run: a new user message and its answer, only an answer, or the messages of a program. */
export type Turn = NewUserMessage | NewAnswer | ProgramTurn

/** The files of a turn, already stored. */
export interface TurnFiles {
  attached: readonly FileRow[] | { of: MessageId }
  /** For a program's turn, the files of each message. */
  ofMessages?: readonly (readonly FileRow[])[]
  /** Whether there are new files: what they contain counts as text from outside. */
  holdOutsideText: boolean
  /** Removes the files that were stored for the turn. Call it if the turn could not be stored. */
  discard(): Promise<void>
}

const parentDeleted = (): AppError => appError('parent_gone')

/** Number of messages that the turn adds to its conversation, including the answer. */
const addedBy = (turn: Turn): number =>
  1 + (turn.kind === 'message' ? 1 : turn.kind === 'program' ? turn.ids.length : 0)

/**
 * Stores the turn of a run that is inserted in the same transaction, and shows it unless it keeps the shown branch. Returns the
 * conversation after the change, and the branch that the run answers if the question is its only message.
 * @param at the conversation as read before, the message to answer, and the title to show until there is a real one; null for
 *   none.
 * @throws AppError if the conversation, the project or the parent no longer exists.
 */
export async function storeTurn(
  tx: Writer,
  store: Store,
  turn: Turn,
  at: {
    run: RunRow
    questionId: MessageId
    conversation: ConversationRow
    files: TurnFiles
    title: string | null
  },
): Promise<{ conversation: ConversationRow; branch: HistoryMessage[] | undefined }> {
  const { run, questionId, conversation, files, title } = at
  const { userId, createdAt } = run
  const conversationId = conversation.id
  let shown = { leafId: conversation.leafId, conversation }
  /** Shows the turn. Locks the conversation. */
  const show = async (): Promise<void> => {
    const found = await store.messages.moveLeaf(tx, conversationId, {
      expected: conversation.leafId,
      leafId: turn.kind === 'answer' && turn.beside ? null : run.messageId,
      added: addedBy(turn),
      title,
      at: createdAt,
    })
    if (found === undefined) throw appError('conversation_not_found')
    shown = found
  }
  const origin = storedOrigin(originOfRun(run))
  const base = { ...MESSAGE_DEFAULTS, conversationId, origin, createdAt }
  const answer: MessageRow = {
    ...base,
    id: run.messageId,
    parentId: questionId,
    role: 'assistant',
    model: run.model,
    runId: run.id,
    status: 'streaming',
  }
  const addQuestion = (text: string, parentId: MessageId | null): Promise<void> => {
    const question: MessageRow = { ...base, id: questionId, parentId, role: 'user', text }
    return store.messages.add(tx, userId, [question, answer], files.attached)
  }

  const lock = async (): Promise<void> => {
    await show()
    await assertProject(tx, store, run, conversation.scratchProjectId)
  }

  const markTainted = async (): Promise<void> => {
    if (!files.holdOutsideText && !(turn.kind === 'program' && bringsOutsideText(turn))) return
    await store.conversations.markTainted(tx, conversationId)
    shown.conversation = { ...shown.conversation, tainted: true }
  }

  if (turn.kind === 'answer') {
    await lock()
    if ((await store.messages.findAttached(tx, conversationId, turn.to))?.role !== 'user')
      throw parentDeleted()
    await store.messages.add(tx, userId, [answer])
    return { conversation: shown.conversation, branch: undefined }
  }
  if (turn.kind === 'program') {
    await lock()
    await markTainted()
    const ofMessages = files.ofMessages ?? []
    await storeProgramTurn(tx, store, turn, {
      userId,
      conversationId,
      createdAt,
      origin,
      files: ofMessages,
    })
    await store.messages.add(tx, userId, [answer])
    return { conversation: shown.conversation, branch: undefined }
  }
  const { text, place } = turn
  if (place === 'leaf') {
    // Nothing waits for the lock, because the leaf that was read before is almost always still the shown one.
    await inParallel(
      show,
      () => assertProject(tx, store, run, conversation.scratchProjectId),
      () => addQuestion(text, conversation.leafId),
    )
    if (shown.leafId !== conversation.leafId)
      await store.messages.moveUnder(tx, questionId, shown.leafId)
  } else {
    await lock()
    await addQuestion(text, await parentOf(tx, store, conversationId, place))
  }
  await markTainted()
  const isWhole =
    place === 'leaf' &&
    shown.leafId === null &&
    !('of' in files.attached) &&
    files.attached.length === 0
  return {
    conversation: shown.conversation,
    branch: isWhole ? [{ ...QUESTION_DEFAULTS, id: questionId, text }] : undefined,
  }
}

/** A conversation's first message as a run reads it. */
const QUESTION_DEFAULTS: Omit<HistoryMessage, 'id' | 'text'> = {
  parentId: null,
  role: 'user',
  runId: null,
  runState: null,
  runEndedAt: null,
  summary: null,
  attachments: [],
  steps: [],
  holdsOutsideText: false,
  carries: new Map(),
  images: new Map(),
}

async function assertProject(
  tx: Writer,
  store: Store,
  { userId, projectId }: RunRow,
  own: ProjectId | null,
): Promise<void> {
  if (projectId === null) return
  const project = await store.projects.find(userId, projectId, tx)
  // The files of another conversation are nobody else's.
  if (project === undefined || (project.scratch && project.id !== own))
    throw appError('project_not_found')
}

/** The parent of a turn that is not below the leaf. @throws AppError if it no longer exists. */
async function parentOf(
  tx: Writer,
  store: Store,
  conversationId: ConversationId,
  place: FixedPosition,
): Promise<MessageId | null> {
  if ('siblingOf' in place) {
    const message = await store.messages.findAttached(tx, conversationId, place.siblingOf)
    if (message?.role !== 'user') throw parentDeleted()
    return message.parentId
  }
  const parent = await store.messages.findAttached(tx, conversationId, place.under)
  if (parent?.role !== 'assistant') throw parentDeleted()
  return parent.id
}
