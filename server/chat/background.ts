// Tasks in the background of a conversation: runs of their own whose answer joins the conversation when it is there.
import type { MessageRow } from '../db/repositories/messages.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import { blankMessage, blankRun } from '../runs/blank-rows.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { type RunOptions, readRunOptions } from '../runs/state.ts'
import type { ChatService } from './chat-service.ts'

/** Begins a task out of the run that a model made the call in; once for each call, however often it is asked. */
export type BeginBackground = (
  parentId: RunId,
  task: { callId: string; task: string; announce: boolean; tools: string[] },
) => Promise<{ ok: true; id: RunId } | { ok: false; error: string }>

/** A task with its answer so far. */
export interface BackgroundTask {
  run: RunRow
  task: string
  announce: boolean
  /** '' until there is one. */
  result: string
}

/** Tasks of one conversation that go on at the same time. */
const MOST_TASKS = 5

export function createBackground(
  dependencies: Pick<ChatDependencies, 'store' | 'instance' | 'now'> & {
    /** Rounds of the model that a task may take. */
    maxIterations: number
  },
  chat: Pick<ChatService, 'beginBackground' | 'stop'>,
) {
  const { store, now } = dependencies

  const owned = async (userId: UserId, conversationId: ConversationId): Promise<void> => {
    if ((await store.conversations.find(userId, conversationId)) === undefined)
      throw new AppError('not_found', 'There is no such conversation.')
  }

  const begin: BeginBackground = async (parentId, { callId, task, announce, tools }) => {
    const parent = await store.runs.find(parentId)
    if (parent === undefined) return { ok: false, error: 'The run that asked for it is gone.' }
    const tasks = await store.runs.background(parent.userId, parent.conversationId)
    const begun = tasks.find(
      (run) => run.parentRunId === parent.id && readRunOptions(run.options).callId === callId,
    )
    if (begun !== undefined) return { ok: true, id: begun.id }
    const createdAt = now()
    const options: RunOptions = {
      toolsEnabled: true,
      approval: readRunOptions(parent.options).approval,
      onDisconnect: 'continue',
      task,
      announce,
      callId,
      tools,
    }
    const run: RunRow = {
      ...blankRun,
      id: newId<RunId>(),
      kind: 'background',
      parentRunId: parent.id,
      conversationId: parent.conversationId,
      userId: parent.userId,
      projectId: parent.projectId,
      messageId: newId<MessageId>(),
      userMessageId: null,
      model: parent.model,
      options,
      state: { grants: [], roundLimit: dependencies.maxIterations },
      clientId: null,
      owner: dependencies.instance,
      createdAt,
      startedAt: createdAt,
    }
    const message: MessageRow = {
      ...blankMessage,
      id: run.messageId,
      conversationId: run.conversationId,
      parentId: null,
      role: 'assistant',
      model: run.model,
      runId: run.id,
      status: 'streaming',
      createdAt,
    }
    try {
      await chat.beginBackground(run, message, MOST_TASKS)
    } catch (error) {
      if (error instanceof AppError && !error.retryable) return { ok: false, error: error.message }
      throw error
    }
    return { ok: true, id: run.id }
  }

  return {
    begin,

    /** Oldest first. Throws `not_found` for a conversation that is not the user's. */
    async list(userId: UserId, conversationId: ConversationId): Promise<BackgroundTask[]> {
      await owned(userId, conversationId)
      const runs = await store.runs.background(userId, conversationId)
      return Promise.all(
        runs.map(async (run) => {
          const options = readRunOptions(run.options)
          const message = await store.messages.find(conversationId, run.messageId)
          return {
            run,
            task: options.task ?? '',
            announce: options.announce ?? true,
            result: message?.text ?? '',
          }
        }),
      )
    },

    /** Stops a task; one that has ended stays as it is. Throws `not_found`. */
    async stop(userId: UserId, conversationId: ConversationId, id: RunId): Promise<RunRow> {
      await owned(userId, conversationId)
      const run = await store.runs.findOwned(userId, id)
      if (run?.kind !== 'background' || run.conversationId !== conversationId)
        throw new AppError('not_found', 'There is no such task.')
      return chat.stop(userId, id)
    },
  }
}

export type Background = ReturnType<typeof createBackground>
