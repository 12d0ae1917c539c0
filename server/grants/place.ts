// Where a grant holds: the user's conversation or project.
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { ConversationId, ProjectId, type UserId } from '../protocol/ids.ts'
import type { GrantScope } from '../protocol/runs/grant.ts'

/** A place of the user. */
export type GrantPlace = { name: string } & (
  | { conversationId: ConversationId }
  | { projectId: ProjectId }
)

/** @throws AppError `conversation_not_found`, `project_not_found` or `grant_scope_unavailable`. */
export async function findPlace(
  userId: UserId,
  { scope, scope_id }: { scope: GrantScope; scope_id: string },
  store: Pick<Store, 'conversations' | 'projects'>,
): Promise<GrantPlace> {
  if (scope === 'schedule') throw appError('grant_scope_unavailable')
  if (scope === 'project') {
    const id = ProjectId.safeParse(scope_id)
    const project = id.success ? await store.projects.find(userId, id.data) : undefined
    if (project === undefined || project.scratch) throw appError('project_not_found')
    return { projectId: project.id, name: project.name }
  }
  const id = ConversationId.safeParse(scope_id)
  const conversation = id.success ? await store.conversations.find(userId, id.data) : undefined
  if (conversation === undefined) throw appError('conversation_not_found')
  return { conversationId: conversation.id, name: conversation.title }
}
