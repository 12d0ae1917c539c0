// What other pages of the user learn of a run: that where it stands has changed.
import type { RunRow } from '../db/repositories/runs.ts'
import type { ChatDependencies } from './dependencies.ts'

/** Call it after the commit. A run changes together with its conversation and the message that it writes. */
export const announceRun = (
  { id, userId, conversationId }: Pick<RunRow, 'id' | 'userId' | 'conversationId'>,
  change: 'created' | 'updated',
  { announce }: Pick<ChatDependencies, 'announce'>,
): void => announce(userId, { type: 'run', id, change, conversation_id: conversationId })
