// Checkpoints of a project: list, diff, restore.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import type {
  Checkpoint,
  CheckpointDiff,
  Restored,
} from '../../../../server/protocol/projects/project.ts'
import { request } from '../http/api-client.ts'
import { usePages } from '../http/pages.ts'

/** The query key of `useCheckpoints`. */
export const checkpointsKey = (projectId: string) => ['checkpoints', projectId] as const

/** The checkpoints of a project, newest first, 50 per page. */
export const useCheckpoints = (projectId: string) =>
  usePages<Checkpoint>(checkpointsKey(projectId), `/api/projects/${projectId}/checkpoints`, {
    limit: 50,
  })

/** The diff of a checkpoint: of that change alone (`change`), or from before it until now (`now`). */
export const useCheckpointDiff = (
  projectId: string,
  checkpointId: string,
  against: 'change' | 'now',
) =>
  useQuery({
    queryKey: ['checkpoints', projectId, 'diff', checkpointId, against],
    queryFn: ({ signal }) =>
      request<z.output<typeof CheckpointDiff>>(
        `/api/projects/${projectId}/checkpoints/${checkpointId}/diff`,
        { query: { against }, signal },
      ),
    meta: { quiet: true },
  })

/** The state to restore: before a checkpoint, or before all changes that a message caused. */
export type RestoreTarget = { checkpointId: string } | { beforeMessageId: MessageId }

/** Restores the project; the response names the checkpoint that undoes it. */
export function useRestore(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (target: RestoreTarget) => {
      const base = `/api/projects/${projectId}/checkpoints`
      return 'checkpointId' in target
        ? request<z.output<typeof Restored>>(`${base}/${target.checkpointId}/restore`, {
            method: 'POST',
          })
        : request<z.output<typeof Restored>>(`${base}/restore`, {
            method: 'POST',
            body: { before_message_id: target.beforeMessageId },
          })
    },
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['checkpoints'] }),
        client.invalidateQueries({ queryKey: ['project-files'] }),
      ]),
  })
}
