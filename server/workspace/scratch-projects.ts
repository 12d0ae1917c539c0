// Scratch projects: the files of conversations without a project. Each is made with the first change and removed with its conversation.
import type { ProjectRepository } from '../db/repositories/projects/projects.ts'
import type { ConversationId, ProjectId, UserId } from '../protocol/ids.ts'
import { type RemovableProjects, removeProject } from './remove-project.ts'

/** The files of conversations without a project. @param onNew is called after a conversation has got its project. */
export function createScratchProjects(
  dependencies: RemovableProjects & {
    projects: Pick<ProjectRepository, 'scratchOf' | 'forFilesOf'>
    onNew(userId: UserId, conversationId: ConversationId): void
  },
) {
  const { projects, onNew } = dependencies
  return {
    find: projects.scratchOf,
    async forChange(userId: UserId, conversationId: ConversationId): Promise<ProjectId> {
      const { id, isNew } = await projects.forFilesOf(userId, conversationId)
      if (isNew) onNew(userId, conversationId)
      return id
    },
    async remove(userId: UserId, conversationId: ConversationId): Promise<void> {
      const id = await projects.scratchOf(userId, conversationId)
      if (id !== null) await removeProject(dependencies, { userId, id }, async () => {})
    },
  }
}
