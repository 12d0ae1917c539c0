// What belongs to a user: the run or the conversation with an id, or an error as if there were none.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { ConversationId, ProjectId, RunId, UserId } from '../protocol/ids.ts'

/** @throws AppError `not_found` for runs of others, too. */
export async function ownedRun(
  store: Pick<Store, 'runs'>,
  userId: UserId,
  id: RunId,
): Promise<RunRow> {
  const run = await store.runs.findOwned(userId, id)
  if (run === undefined) throw appError('run_not_found')
  return run
}

/**
 * The run of a user, or one whose project lets the user decide its approval requests.
 * @throws AppError `not_found` for all other runs.
 */
export async function decidableRun(
  store: Pick<Store, 'runs' | 'approvers'>,
  userId: UserId,
  id: RunId,
): Promise<RunRow> {
  const run = await store.runs.find(id)
  const isApprover =
    run !== undefined &&
    run.projectId !== null &&
    run.userId !== userId &&
    (await store.approvers.includes(run.projectId, userId))
  return await ownedRun(store, isApprover ? run.userId : userId, id)
}

/** @throws AppError `not_found` for conversations of others, too. */
export async function ownedConversation(
  store: Pick<Store, 'conversations'>,
  userId: UserId,
  id: ConversationId,
): Promise<ConversationRow> {
  const conversation = await store.conversations.find(userId, id)
  if (conversation === undefined) throw appError('conversation_not_found')
  return conversation
}

/** Where the files of a conversation are: its project, or the scratch project with its own; null before it has one. */
export const projectOf = ({
  projectId,
  scratchProjectId,
}: Pick<ConversationRow, 'projectId' | 'scratchProjectId'>): ProjectId | null =>
  projectId ?? scratchProjectId
