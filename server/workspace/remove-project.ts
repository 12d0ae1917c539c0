// Removes a project with its documents, its files and its earlier contents.
import type { ProjectRepository } from '../db/repositories/projects/projects.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { WorkspaceServices } from './workspace-services.ts'

/** What removing a project needs. */
interface RemovableProjects {
  projects: Pick<ProjectRepository, 'remove' | 'forgetRemoved'>
  workspace: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'>
  /** Removes the documents of a project with their passages. */
  knowledge: { removeProject(id: ProjectId): Promise<void> }
}

/** Can be repeated after an interruption. @param stop ends the runs that work in the project. */
export const removeProject = (
  { projects, workspace, knowledge }: RemovableProjects,
  { userId, id }: { userId: UserId; id: ProjectId },
  stop: () => Promise<void>,
): Promise<void> =>
  workspace.checkpoints.removeProject(id, {
    stop,
    async remove() {
      await knowledge.removeProject(id)
      await projects.remove(userId, id)
      await workspace.workspaces.remove(userId, id)
      await projects.forgetRemoved(id)
    },
  })
