// The project lookup that everything in a project starts with: whether the user may do it, and where the files are.
import { givesRole } from '../db/repositories/projects/membership.ts'
import type { MemberProject, ProjectRepository } from '../db/repositories/projects/projects.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Workspace } from './workspace.ts'
import type { Workspaces } from './workspaces.ts'

/**
 * What somebody wants to do in a project. `read`: see it, its files and documents, and have conversations in it. `change`: its
 * files, documents, settings and schedules. `own`: decide about its members and approvers, take it out or delete it.
 */
export type ProjectRight = 'read' | 'change' | 'own'

const ROLE_FOR = { read: 'use', change: 'edit', own: 'own' } as const

/** Where projects are found. */
export interface ProjectSource {
  projects: Pick<ProjectRepository, 'find'>
  workspaces: Pick<Workspaces, 'open'>
}

/**
 * The project, and its folder as the user's place to work.
 * @throws AppError `project_not_found` for a project that the user is no member of; `read_only_project` or `owner_only` if the
 * user's role does not give the right.
 */
export async function openProject(
  { projects, workspaces }: ProjectSource,
  userId: UserId,
  id: ProjectId,
  right: ProjectRight,
): Promise<{ row: MemberProject; workspace: Workspace }> {
  const row = await requireProject(projects, userId, id, right)
  return { row, workspace: { ...workspaces.open(row.userId, id), actorId: userId } }
}

/** Where the folder of a project is found, whoever asks. */
export interface StoredProjects {
  projects: Pick<ProjectRepository, 'ownerOf'>
  workspaces: Pick<Workspaces, 'open'>
}

/** The folder of a project, for what the server itself reads there: also for somebody who is no member any more. */
export const openStored = async (
  { projects, workspaces }: StoredProjects,
  userId: UserId,
  id: ProjectId,
): Promise<Workspace> => workspaces.open((await projects.ownerOf(id)) ?? userId, id)

/** The top folders of projects, for those who may read them: it is not asked who reads. */
export const topFolders = (
  { workspaces }: Pick<ProjectSource, 'workspaces'>,
  outsideText: {
    namesIn(workspace: Workspace, names: readonly string[]): Promise<ReadonlySet<string>>
  },
) => ({
  list: (storedBy: UserId, id: ProjectId) => workspaces.open(storedBy, id).list(''),
  /** Those of the names that may come from outside. */
  namesFromOutside: (storedBy: UserId, id: ProjectId, names: readonly string[]) =>
    outsideText.namesIn(workspaces.open(storedBy, id), names),
})

/** The project, without its folder. @throws AppError as `openProject` does. */
export async function requireProject(
  projects: ProjectSource['projects'],
  userId: UserId,
  id: ProjectId,
  right: ProjectRight,
): Promise<MemberProject> {
  const row = await projects.find(userId, id)
  assertRight(row, right)
  return row
}

/** For a project that was looked up, undefined if it was not found. @throws AppError as `openProject` does. */
export function assertRight(
  row: MemberProject | undefined,
  right: ProjectRight,
): asserts row is MemberProject {
  if (row === undefined) throw appError('project_not_found')
  if (!givesRole(row.role, ROLE_FOR[right]))
    throw appError(right === 'own' ? 'owner_only' : 'read_only_project')
}
