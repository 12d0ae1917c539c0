// Scratch projects: the files of conversations without a project. Each is made with the first change and removed with its conversation.
import type { ProjectRepository } from '../db/repositories/projects/projects.ts'
import type { ConversationId, ProjectId, UserId } from '../protocol/ids.ts'
import type { WorkspaceServices } from './workspace-services.ts'

/** The files of conversations without a project. @param onNew is called after a conversation has got its project. */
export function createScratchProjects({
  projects,
  workspace: { checkpoints, workspaces },
  onNew,
  log,
}: {
  projects: Pick<ProjectRepository, 'scratchOf' | 'forFilesOf' | 'removeScratch' | 'forgetRemoved'>
  workspace: {
    checkpoints: Pick<WorkspaceServices['checkpoints'], 'removeProject'>
    workspaces: Pick<WorkspaceServices['workspaces'], 'remove'>
  }
  onNew(userId: UserId, conversationId: ConversationId): void
  log: { warn(details: object, message: string): void }
}) {
  return {
    find: projects.scratchOf,
    async forChange(userId: UserId, conversationId: ConversationId): Promise<ProjectId> {
      const { id, isNew } = await projects.forFilesOf(userId, conversationId)
      if (isNew) onNew(userId, conversationId)
      return id
    },
    async remove(userId: UserId, conversationId: ConversationId): Promise<void> {
      const id = await projects.scratchOf(userId, conversationId)
      if (id === null) return
      await checkpoints.removeProject(id, {
        async stop() {},
        async remove() {
          // While this waited for a change of the files, a person may have kept them as a project. The documents go with
          // the row.
          if (!(await projects.removeScratch(userId, id))) return
          try {
            await workspaces.remove(userId, id)
            await projects.forgetRemoved(id)
          } catch (error) {
            // The purge tries again, so that the conversation need not stay.
            const message = 'the folders of a scratch project could not be removed yet'
            log.warn({ err: error, project: id }, message)
          }
        },
      })
    },
  }
}
