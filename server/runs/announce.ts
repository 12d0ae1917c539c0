// Notifies the user's open pages that a run was created or updated.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ChatDependencies } from './dependencies.ts'

/** Call it after the commit. The notification also covers the run's conversation and assistant message. */
export const announceRun = (
  { id, userId, conversationId }: Pick<RunRow, 'id' | 'userId' | 'conversationId'>,
  change: 'created' | 'updated',
  { announce }: Pick<ChatDependencies, 'announce'>,
): void => announce(userId, { type: 'run', id, change, conversation_id: conversationId })
