// How a run begins: what may stand in its way, and the rows that are stored before anything is told.
import type { ConversationRow } from '../db/repositories/conversations.ts'
import type { MessageRow } from '../db/repositories/messages.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import type {
  Attachment,
  EditMessageBody,
  RegenerateBody,
  SendMessageBody,
} from '../protocol/message.ts'
import { checkAttachments } from './attachments.ts'
import { blankMessage, blankRun } from './blank-rows.ts'
import { exceededBudget } from './bookkeeping.ts'
import type { ChatDependencies } from './chat-dependencies.ts'
import type { RunRegistry } from './run-registry.ts'
import type { RunOptions } from './run-state.ts'
import { createWriteGroup } from './write-group.ts'

type Asked = SendMessageBody | EditMessageBody | RegenerateBody

/** A message that is to be stored with its run. */
interface NewUserMessage {
  text: string
  attachments: readonly Attachment[]
  parentId: MessageId | null
}

function checkMessage(message: NewUserMessage, maxCharacters: number, vision: boolean): void {
  if (message.text.length > maxCharacters)
    throw new AppError(
      'validation_failed',
      `The message is too long: ${message.text.length} of at most ${maxCharacters} characters.`,
      { details: [{ path: 'text', message: `at most ${maxCharacters} characters` }] },
    )
  checkAttachments(message.attachments, vision)
}

/** The refusal that names the run in the way. */
export const activeRunError = (runId: RunId): AppError =>
  new AppError(
    'run_active',
    'This conversation has a run that is not ended. Wait for it, or stop it first.',
    { details: { run_id: runId } },
  )

export interface RunStart {
  /** Refuses what can't begin now, before anything is stored. */
  admit(userId: UserId, conversationId: ConversationId): Promise<void>
  /** Stores a turn and begins its run, or joins the run that the same `client_id` began. */
  begin(
    userId: UserId,
    conversation: ConversationRow,
    body: Asked,
    turn: { userMessage: NewUserMessage | null; userMessageId: MessageId },
  ): Promise<RunRow>
}

export function createRunStart(
  dependencies: ChatDependencies,
  runs: RunRegistry,
  isDraining: () => boolean,
): RunStart {
  const { store, database, settings, now } = dependencies
  /** For what a person waits for: better a clear refusal now than an answer in a minute. */
  const promptWrites = createWriteGroup(database, [100, 400])

  async function admit(userId: UserId, conversationId: ConversationId): Promise<void> {
    if (isDraining())
      throw new AppError('shutting_down', 'The server is about to restart. Try again shortly.', {
        retryAfter: 5,
      })
    const [active, unfinished, exceeded] = await Promise.all([
      store.runs.findActive(conversationId),
      store.runs.countUnfinished(userId),
      exceededBudget(userId, dependencies),
    ])
    if (active !== undefined) throw activeRunError(active.id)
    if (unfinished >= settings.runsPerUser)
      throw new AppError(
        'too_many_runs',
        `You have ${settings.runsPerUser} runs going on. Wait for one to end, or stop one.`,
        { retryAfter: 5 },
      )
    if (exceeded !== null) throw new AppError('budget_exceeded', exceeded)
  }

  async function begin(
    userId: UserId,
    conversation: ConversationRow,
    body: Asked,
    turn: { userMessage: NewUserMessage | null; userMessageId: MessageId },
  ): Promise<RunRow> {
    const joined = await joinedRun(conversation.id, body.client_id)
    if (joined !== undefined) return joined
    try {
      await admit(userId, conversation.id)
    } catch (refusal) {
      // The run that stands in the way may be the very one that a twin of this request has just begun.
      const twin = await joinedRun(conversation.id, body.client_id)
      if (twin !== undefined) return twin
      throw refusal
    }
    const { model } = await dependencies.catalog.resolve(body.model ?? conversation.model)
    const { userMessage, userMessageId } = turn
    if (userMessage !== null) checkMessage(userMessage, settings.messageCharacters, model.vision)
    const projectId = body.project_id ?? conversation.projectId
    if (projectId !== null && (await store.projects.find(userId, projectId)) === undefined)
      throw new AppError('not_found', 'There is no such project.')

    const createdAt = now()
    const messageId = newId<MessageId>()
    const options: RunOptions = {
      toolsEnabled: body.tools_enabled ?? true,
      ...(body.tool_choice === undefined ? {} : { toolChoice: body.tool_choice }),
      approval: body.approval ?? conversation.approval ?? settings.approvalDefault,
      onDisconnect: body.on_disconnect ?? 'grace',
    }
    const run: RunRow = {
      ...blankRun,
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
      await runs.begin(run, () =>
        promptWrites.commit(async (tx) => {
          // The run first: it may have to wait for the end of another one, which must not wait for us in turn.
          await store.runs.insert(tx, run)
          const answer: MessageRow = {
            ...blankMessage,
            id: messageId,
            conversationId: conversation.id,
            parentId: userMessageId,
            role: 'assistant',
            model: model.id,
            runId: run.id,
            status: 'streaming',
            createdAt,
          }
          if (userMessage === null) return await store.messages.insert(tx, [answer])
          const question: MessageRow = {
            ...blankMessage,
            id: userMessageId,
            conversationId: conversation.id,
            parentId: userMessage.parentId,
            role: 'user',
            text: userMessage.text,
            createdAt,
          }
          await store.messages.insert(tx, [question, answer], userMessage.attachments)
        }),
      )
    } catch (error) {
      if (!database.isUniqueViolation(error)) throw error
      const other = await joinedRun(conversation.id, body.client_id)
      if (other !== undefined) return other
      const active = await store.runs.findActive(conversation.id)
      if (active !== undefined) throw activeRunError(active.id)
      throw error
    }
    return run
  }

  async function joinedRun(
    conversationId: ConversationId,
    clientId: string | undefined,
  ): Promise<RunRow | undefined> {
    return clientId === undefined
      ? undefined
      : await store.runs.findByClientId(conversationId, clientId)
  }

  return { admit, begin }
}
