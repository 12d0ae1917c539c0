// Restores the files of a project to their state before a message.
import type { CheckpointRow } from '../db/repositories/projects/checkpoints.ts'
import { appError } from '../errors.ts'
import type { MessageId, ProjectId, UserId } from '../protocol/ids.ts'
import type { Restored } from './checkpoints/checkpoints.ts'
import type { ChangeOrigin } from './checkpoints/record-change.ts'
import { openProject } from './open-project.ts'
import type { WorkspaceServices } from './workspace-services.ts'

/** The origin of restores: no message and no run makes them. */
export const RESTORE_ORIGIN: ChangeOrigin = { tool: 'restore', messageId: null, runId: null }

/** A message, and the project whose files are restored. */
export interface MessageInProject {
  userId: UserId
  projectId: ProjectId
  messageId: MessageId
}

type Services = Pick<WorkspaceServices, 'records' | 'checkpoints' | 'projects' | 'workspaces'>

/**
 * Restores what has changed since the message was written. If nothing has, the restore leaves a checkpoint all the same.
 * @throws AppError as `openProject` and `Checkpoints.restore` do; `message_not_found`.
 */
export async function restoreBeforeMessage(
  services: Services,
  place: MessageInProject,
): Promise<Restored> {
  const { workspace, first } = await firstChange(services, place)
  return await services.checkpoints.restore(workspace, first?.id, RESTORE_ORIGIN)
}

/** The same, but leaves nothing if nothing has changed. @returns the number of restored files. */
export async function restoreIfChanged(
  services: Services,
  place: MessageInProject,
): Promise<number> {
  const { workspace, first } = await firstChange(services, place)
  if (first === undefined) return 0
  return (await services.checkpoints.restore(workspace, first.id, RESTORE_ORIGIN)).restored
}

async function firstChange(
  services: Services,
  { userId, projectId, messageId }: MessageInProject,
): Promise<{
  workspace: Awaited<ReturnType<typeof openProject>>['workspace']
  first: Pick<CheckpointRow, 'id'> | undefined
}> {
  const { workspace } = await openProject(services, userId, projectId, 'change')
  const moment = await services.records.momentOfMessage(userId, messageId)
  if (moment === undefined) throw appError('message_not_found')
  return { workspace, first: await services.records.firstSince(projectId, messageId, moment) }
}
