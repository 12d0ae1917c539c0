// Starts a run: checks what could prevent it, and stores its rows before anything is emitted.
import type { Writer } from '../db/database.ts'
import type { AttachmentInfo } from '../db/repositories/attachments.ts'
import type { FileRow } from '../db/repositories/files.ts'
import type { MessageRow } from '../db/repositories/messages.ts'
import type { RunSite } from '../db/repositories/run-site.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { type AppError, appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import type { NewAttachment, RegenerateBody } from '../protocol/message.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import { runsAtOnce, tooManyRuns } from '../runs/start/admission.ts'
import { MESSAGE_DEFAULTS, RUN_DEFAULTS } from '../runs/start/row-defaults.ts'
import type { RunOptions } from '../runs/state.ts'
import { exceededBudget } from '../runs/usage/budgets.ts'
import { checkAttachments, checkStoredAttachments, storeAttachments } from './attachments.ts'
import { type ProgramTurn, storeProgramTurn } from './program-turn.ts'
import type { TemporaryRemoval } from './temporary.ts'

/** The body of a request, and what only programs may ask for. */
type RunBody = Partial<RegenerateBody> &
  Partial<Pick<RunOptions, 'clientTools' | 'refusesApprovals' | 'response'>>

/** The position of a turn in the message tree, resolved in the transaction that stores the turn. */
export type TurnPosition =
  /** Below the shown leaf. */
  | { under: 'leaf' }
  /** Below this assistant message. */
  | { under: 'answer'; id: MessageId }
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

/** What is stored with a run: a new user message, only a new answer to an existing one, or what a program sent. */
export type Turn = NewUserMessage | { kind: 'answer'; to: MessageId } | ProgramTurn

function checkText(text: string, maxCharacters: number): void {
  if (text.length > maxCharacters)
    throw appError(
      'message_too_long',
      { length: text.length, limit: maxCharacters },
      { details: [{ path: 'text', message: `at most ${maxCharacters} characters` }] },
    )
}

/** The files of a turn, stored already. */
interface TurnFiles {
  attached: readonly FileRow[] | { of: MessageId }
  /** For a program's turn, the files of each message. */
  ofMessages?: readonly (readonly FileRow[])[]
  /** They hold text that was uploaded: it counts as text from outside. */
  holdOutsideText: boolean
  /** Removes the files that were stored for a turn that is not stored. */
  discard(): Promise<void>
}

/** The 409 error that names the active run. */
export const activeRunError = (runId: RunId): AppError =>
  appError('conversation_has_run', {}, { details: { run_id: runId } })

const parentDeleted = (): AppError => appError('parent_gone')

export interface RunStart {
  /** Rejects a run that cannot start now, before any other work is done for it. @throws AppError with the reason. */
  admit(userId: UserId, site: Pick<RunSite, 'activeRunId' | 'unfinishedRuns'>): Promise<void>
  /** Stores a turn and starts its run, or returns the run that was started with the same `client_id`. */
  begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow>
}

export function createRunStart(
  dependencies: ChatDependencies,
  runs: RunRegistry,
  temporary: TemporaryRemoval,
): RunStart {
  const { store, database, settings, now } = dependencies

  async function admit(
    userId: UserId,
    { activeRunId, unfinishedRuns }: Pick<RunSite, 'activeRunId' | 'unfinishedRuns'>,
  ): Promise<void> {
    if (runs.isDraining) throw appError('shutting_down', {}, { retryAfter: 5 })
    const exceeded = await exceededBudget(dependencies.access.spendingLimits(userId), dependencies)
    if (activeRunId !== null) throw activeRunError(activeRunId)
    const runsPerUser = runsAtOnce(dependencies.access, userId)
    if (unfinishedRuns >= runsPerUser) throw tooManyRuns(runsPerUser)
    if (exceeded === null) return
    dependencies.notices?.quotaReached(userId, exceeded)
    throw exceeded
  }

  /** The parent of the turn, null at the root. The caller has locked the leaf. @throws AppError when it is gone. */
  async function parentOf(
    tx: Writer,
    conversationId: ConversationId,
    leafId: MessageId | null,
    place: TurnPosition,
  ): Promise<MessageId | null> {
    if ('siblingOf' in place) {
      const message = await store.messages.findAttached(tx, conversationId, place.siblingOf)
      if (message?.role !== 'user') throw parentDeleted()
      return message.parentId
    }
    if (place.under === 'leaf') return leafId
    const parent = await store.messages.findAttached(tx, conversationId, place.id)
    if (parent?.role !== 'assistant') throw parentDeleted()
    return parent.id
  }

  /** Checks what a turn brings and stores its files. */
  async function filesOf(userId: UserId, turn: Turn, vision: boolean): Promise<TurnFiles> {
    const none = { holdOutsideText: false, discard: async () => {} }
    if (turn.kind === 'answer') return { attached: [], ...none }
    if (turn.kind === 'program') return await filesOfProgram(userId, turn, vision)
    checkText(turn.text, settings.messageCharacters)
    const { attachments } = turn
    if ('of' in attachments) {
      checkStoredAttachments(attachments.stored, vision)
      return { attached: attachments, ...none }
    }
    return await storeNew(userId, attachments, vision)
  }

  async function storeNew(
    userId: UserId,
    attachments: readonly NewAttachment[],
    vision: boolean,
  ): Promise<TurnFiles & { attached: readonly FileRow[] }> {
    const checked = await checkAttachments(attachments, {
      files: dependencies.files,
      userId,
      vision,
      maxBytes: settings.attachmentBytes,
    })
    const { rows, discard } = await storeAttachments(checked, dependencies.files, userId)
    const holdOutsideText = checked.some((file) => 'sha256' in file && file.kind === 'text')
    return { attached: rows, holdOutsideText, discard }
  }

  async function filesOfProgram(
    userId: UserId,
    { past, question }: ProgramTurn,
    vision: boolean,
  ): Promise<TurnFiles> {
    if (question !== null) checkText(question.text, settings.messageCharacters)
    const ofMessages: (readonly FileRow[])[] = []
    const stored: TurnFiles[] = []
    const discard = async () => {
      for (const files of stored) await files.discard()
    }
    try {
      for (const message of [...past, ...(question === null ? [] : [question])]) {
        const given = 'attachments' in message ? message.attachments : []
        const files = given.length === 0 ? null : await storeNew(userId, given, vision)
        if (files !== null) stored.push(files)
        ofMessages.push(files?.attached ?? [])
      }
    } catch (error) {
      await discard()
      throw error
    }
    const holdOutsideText = stored.some((files) => files.holdOutsideText)
    return { attached: [], ofMessages, holdOutsideText, discard }
  }

  async function begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow> {
    const { conversation } = site
    if (site.duplicateRunId !== null) {
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
    }
    try {
      await admit(userId, site)
    } catch (rejection) {
      // The run in the way may have just been started by a duplicate of this request.
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
      throw rejection
    }
    if (body.approval !== undefined) dependencies.access.assertApprovalMode(userId, body.approval)
    const { model } = await dependencies.catalog.resolve(
      body.model ?? conversation.model,
      dependencies.access.models(userId),
    )
    const files = await filesOf(userId, turn, model.vision)
    const projectId = body.project_id ?? conversation.projectId
    const userMessageId =
      turn.kind === 'answer' ? turn.to : turn.kind === 'program' ? turn.lastId : newId<MessageId>()

    const createdAt = now()
    const messageId = newId<MessageId>()
    const options: RunOptions = {
      toolsEnabled: body.tools_enabled ?? true,
      ...(body.tool_choice === undefined ? {} : { toolChoice: body.tool_choice }),
      approval: body.approval ?? conversation.approval ?? settings.approvalDefault(),
      onDisconnect: body.on_disconnect ?? 'grace',
      ...(body.clientTools === undefined ? {} : { clientTools: body.clientTools }),
      ...(body.response === undefined ? {} : { response: body.response }),
      ...(body.refusesApprovals === true ? { refusesApprovals: true } : {}),
    }
    const run: RunRow = {
      ...RUN_DEFAULTS,
      id: newId<RunId>(),
      conversationId: conversation.id,
      userId,
      projectId,
      messageId,
      userMessageId,
      model: model.id,
      options,
      clientId: body.client_id ?? null,
      owner: dependencies.instance,
      createdAt,
      startedAt: createdAt,
    }
    try {
      await runs.begin(run, async (tx) => {
        const shown = await store.messages.showTurn(tx, conversation.id, {
          expected: conversation.leafId,
          leafId: messageId,
          added: 1 + (turn.kind === 'message' ? 1 : turn.kind === 'program' ? turn.ids.length : 0),
          at: createdAt,
        })
        if (shown === undefined) throw appError('conversation_not_found')
        if (projectId !== null && (await store.projects.find(userId, projectId, tx)) === undefined)
          throw appError('project_not_found')
        const answer: MessageRow = {
          ...MESSAGE_DEFAULTS,
          id: messageId,
          conversationId: conversation.id,
          parentId: userMessageId,
          role: 'assistant',
          model: model.id,
          runId: run.id,
          status: 'streaming',
          createdAt,
        }
        if (turn.kind === 'answer') {
          if ((await store.messages.findAttached(tx, conversation.id, turn.to))?.role !== 'user')
            throw parentDeleted()
          return await store.messages.add(tx, userId, [answer])
        }
        if (files.holdOutsideText) await store.conversations.markTainted(tx, conversation.id)
        if (turn.kind === 'program') {
          const ofMessages = files.ofMessages ?? []
          const at = { userId, conversationId: conversation.id, createdAt, files: ofMessages }
          await storeProgramTurn(tx, store, turn, at)
          return await store.messages.add(tx, userId, [answer])
        }
        const question: MessageRow = {
          ...MESSAGE_DEFAULTS,
          id: userMessageId,
          conversationId: conversation.id,
          parentId: await parentOf(tx, conversation.id, shown.leafId, turn.place),
          role: 'user',
          text: turn.text,
          createdAt,
        }
        await store.messages.add(tx, userId, [question, answer], files.attached)
      })
    } catch (error) {
      await files.discard()
      if (!database.isUniqueViolation(error)) throw error
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
      const active = await store.runs.findActive(conversation.id)
      if (active !== undefined) throw activeRunError(active.id)
      throw error
    }
    if (conversation.temporary) temporary.after(run)
    return run
  }

  async function findByClientId(
    conversationId: ConversationId,
    clientId: string | undefined,
  ): Promise<RunRow | undefined> {
    return clientId === undefined
      ? undefined
      : await store.runs.findByClientId(conversationId, clientId)
  }

  return { admit, begin }
}
