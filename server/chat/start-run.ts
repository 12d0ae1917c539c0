// Starts a run: checks whether it may start, and stores its rows before anything is emitted.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { FileRow } from '../db/repositories/projects/files.ts'
import type { RunSite } from '../db/repositories/runs/run-site.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { AppError, appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { NewAttachment, RegenerateBody } from '../protocol/conversations/message.ts'
import { titleFromMessage } from '../protocol/conversations/title.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import { activeRunError, runsAtOnce, tooManyRuns } from '../runs/start/admission.ts'
import { RUN_DEFAULTS } from '../runs/start/row-defaults.ts'
import type { RunOptions } from '../runs/state.ts'
import { exceededBudget } from '../runs/usage/budgets.ts'
import { checkAttachments, checkStoredAttachments, storeAttachments } from './attachments.ts'
import type { ProgramTurn } from './program-turn.ts'
import { storeTurn, type Turn, type TurnFiles } from './store-turn.ts'
import type { TemporaryRemoval } from './temporary.ts'

/** The body of a request, and options that only programs have. */
type RunBody = Partial<RegenerateBody> &
  Partial<
    Pick<RunOptions, 'clientTools' | 'refusesApprovals' | 'response' | 'settings' | 'begunWith'>
  >

function checkText(text: string, maxCharacters: number): void {
  if (text.length > maxCharacters)
    throw appError(
      'message_too_long',
      { length: text.length, limit: maxCharacters },
      { details: [{ path: 'text', message: `at most ${maxCharacters} characters` }] },
    )
}

/** The bytes of the texts of a turn; its files count when they are stored. */
function bytesOf(turn: Turn): number {
  if (turn.kind === 'answer') return 0
  if (turn.kind === 'message') return Buffer.byteLength(turn.text)
  let bytes = Buffer.byteLength(turn.question?.text ?? '')
  for (const message of turn.past)
    if (message.role === 'user') bytes += Buffer.byteLength(message.text)
    else for (const { content } of message.steps) bytes += Buffer.byteLength(content)
  return bytes
}

/** Shared by all operations that begin an answer. */
export interface RunStart {
  /** Rejects a run that cannot start now, before any other work is done for it. @throws AppError with the reason. */
  admit(userId: UserId, site: Pick<RunSite, 'activeRunId' | 'unfinishedRuns'>): Promise<void>
  /** Stores a turn and starts its run, or returns the run that was started with the same `client_id`. */
  begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow>
}

/** Creates the part of the chat service that starts runs. */
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
    if (runs.isDraining && !(await runs.canHandOver()))
      throw appError('shutting_down', {}, { retryAfter: 5 })
    const exceeded = await exceededBudget(dependencies.access.spendingLimits(userId), dependencies)
    if (activeRunId !== null) throw activeRunError(activeRunId)
    const runsPerUser = runsAtOnce(dependencies.access, userId)
    if (unfinishedRuns >= runsPerUser) throw tooManyRuns(runsPerUser)
    if (exceeded === null) return
    dependencies.notices?.quotaReached(userId, exceeded)
    throw exceeded
  }

  /** Validates the attachments of a turn and stores its files. */
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
    // Anybody may have made a file, and a picture can hold text, too.
    return { attached: rows, holdOutsideText: checked.length > 0, discard }
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

  /** The beginning of the first message, in place of a title; null if there is one or none is wanted. */
  function firstTitle({ titled, messageCount }: ConversationRow, turn: Turn): string | null {
    if (titled || messageCount > 0 || settings.titles === 'off' || turn.kind !== 'message')
      return null
    const title = titleFromMessage(turn.text)
    return title === '' ? null : title
  }

  async function begin(userId: UserId, site: RunSite, body: RunBody, turn: Turn): Promise<RunRow> {
    const { conversation } = site
    if (site.duplicateRunId !== null) {
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
    }
    try {
      // What runs beside another answer is checked in the transaction that stores it.
      await admit(
        userId,
        turn.kind === 'answer' && turn.beside ? { ...site, activeRunId: null } : site,
      )
    } catch (rejection) {
      // A duplicate of this request may have just started the run that is in the way.
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
      throw rejection
    }
    if (body.approval !== undefined) dependencies.access.assertApprovalMode(userId, body.approval)
    const { model } = await dependencies.catalog.resolve(
      body.model ?? conversation.model,
      dependencies.access.models(userId),
    )
    await dependencies.storage.countText(userId, bytesOf(turn))
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
      ...(body.settings === undefined ? {} : { settings: body.settings }),
      ...(body.begunWith === undefined ? {} : { begunWith: body.begunWith }),
      ...(body.refusesApprovals === true ? { refusesApprovals: true } : {}),
    }
    const run: RunRow = {
      ...RUN_DEFAULTS,
      beside: turn.kind === 'answer' && turn.beside,
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
      const title = firstTitle(conversation, turn)
      const at = { run, questionId: userMessageId, conversation, files, title }
      await runs.begin(run, async (tx) => {
        const { conversation: shown, branch } = await storeTurn(tx, store, turn, at)
        const { memory, preferences } = site
        return { setting: { conversation: shown, memory, preferences }, branch }
      })
    } catch (error) {
      await files.discard()
      const isActive = error instanceof AppError && error.reason === 'conversation_has_run'
      if (!isActive && !database.isUniqueViolation(error)) throw error
      const duplicate = await findByClientId(conversation.id, body.client_id)
      if (duplicate !== undefined) return duplicate
      if (isActive) throw error
      const active = await store.runs.findActive(conversation.id)
      // What was in the way has just ended.
      throw active === undefined
        ? appError('store_busy', {}, { retryAfter: 1 })
        : activeRunError(active.id)
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
