// Where a grant holds: the user's conversation, project or schedule.
import type { GrantRow } from '../db/repositories/runs/grants.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { ConversationId, ProjectId, type UserId } from '../protocol/ids.ts'
import type { GrantScope } from '../protocol/runs/grant.ts'
import type { RunOrigin } from '../protocol/runs/origin.ts'
import { ScheduleId } from '../protocol/schedules/schedule.ts'

/** A place of the user. */
export type GrantPlace = { name: string } & (
  | { conversationId: ConversationId }
  | { projectId: ProjectId }
  | { scheduleId: ScheduleId }
)

/** @throws AppError `conversation_not_found`, `project_not_found` or `schedule_not_found`. */
export async function findPlace(
  userId: UserId,
  { scope, scope_id }: { scope: GrantScope; scope_id: string },
  store: Pick<Store, 'conversations' | 'projects' | 'schedules'>,
): Promise<GrantPlace> {
  if (scope === 'schedule') {
    const id = ScheduleId.safeParse(scope_id)
    const schedule = id.success ? await store.schedules.find(userId, id.data) : undefined
    if (schedule === undefined) throw appError('schedule_not_found')
    return { scheduleId: schedule.id, name: schedule.name }
  }
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

/** The place of a stored grant, as the API names it. */
export function scopeOf({
  conversationId,
  projectId,
  scheduleId,
}: Pick<GrantRow, 'conversationId' | 'projectId' | 'scheduleId'>): {
  scope: GrantScope
  scope_id: string
} {
  if (scheduleId !== null) return { scope: 'schedule', scope_id: scheduleId }
  if (projectId !== null) return { scope: 'project', scope_id: projectId }
  return { scope: 'conversation', scope_id: conversationId ?? '' }
}

/** The schedule that started a run, also through its hook; null if none did. What people send in its conversation is theirs. */
export function scheduleOf({ type, id }: RunOrigin): ScheduleId | null {
  if (type !== 'schedule' && type !== 'hook') return null
  return ScheduleId.safeParse(id).data ?? null
}
