// Lists and stops the background tasks of a conversation.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { ConversationId, RunId, UserId } from '../protocol/ids.ts'
import { readRunOptions } from '../runs/state.ts'
import type { ChatService } from './chat-service.ts'

/** A task with its current result. */
export interface BackgroundTask {
  run: RunRow
  task: string
  announce: boolean
  /** '' until the task has a result. */
  result: string
}

/** Lists and stops background tasks. Tools start them. */
export function createBackground(store: Store, chat: Pick<ChatService, 'stop'>) {
  const owned = async (userId: UserId, conversationId: ConversationId): Promise<void> => {
    if ((await store.conversations.find(userId, conversationId)) === undefined)
      throw appError('conversation_not_found')
  }

  return {
    /** Oldest first. @throws AppError `not_found` if the conversation does not belong to the user. */
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

    /** Stops a task. Does nothing if the task has ended. @throws AppError `not_found`. */
    async stop(userId: UserId, conversationId: ConversationId, id: RunId): Promise<RunRow> {
      await owned(userId, conversationId)
      const run = await store.runs.findOwned(userId, id)
      if (run?.kind !== 'background' || run.conversationId !== conversationId)
        throw appError('task_not_found')
      return chat.stop(userId, id)
    },
  }
}

/** The operations of `createBackground`. */
export type Background = ReturnType<typeof createBackground>
