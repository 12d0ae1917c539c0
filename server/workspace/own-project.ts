// The project lookup that every route below `/api/projects/:id` starts with.
import type { ProjectRepository, ProjectRow } from '../db/repositories/projects/projects.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Workspace } from './workspace.ts'
import type { Workspaces } from './workspaces.ts'

/** The user's project and its workspace. @throws AppError `not_found`, also for a project of another user. */
export async function ownProject(
  { projects, workspaces }: { projects: Pick<ProjectRepository, 'find'>; workspaces: Workspaces },
  userId: UserId,
  id: ProjectId,
): Promise<{ row: ProjectRow; workspace: Workspace }> {
  const row = await projects.find(userId, id)
  if (row === undefined) throw appError('project_not_found')
  return { row, workspace: workspaces.open(userId, id) }
}
