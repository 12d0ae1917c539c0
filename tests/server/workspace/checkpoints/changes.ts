// Test helpers that change a project with a checkpoint, as tools and people do.

import type { Database } from '../../../../server/db/database.ts'
import { createOutsideContentRepository } from '../../../../server/db/repositories/runs/outside-contents.ts'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import { createCheckpoints } from '../../../../server/workspace/checkpoints/checkpoints.ts'
import type { ChangeOrigin } from '../../../../server/workspace/checkpoints/record-change.ts'
import { createKeyedMutex } from '../../../../server/workspace/keyed-mutex.ts'
import type { openProject } from '../../../support/store/projects.ts'

export type Project = Awaited<ReturnType<typeof openProject>>

/** The origin of a change. */
export const by = (tool: string, messageId: MessageId | null = null): ChangeOrigin => ({
  tool,
  messageId,
  runId: null,
})

export const write = (
  { checkpoints, workspace }: Project,
  path: string,
  text: string,
  origin = by('file_write'),
) => checkpoints.change(workspace, origin, [path], () => workspace.write(path, Buffer.from(text)))

export const remove = ({ checkpoints, workspace }: Project, path: string) =>
  checkpoints.change(workspace, by('delete'), [path], () => workspace.remove(path))

export const move = ({ checkpoints, workspace }: Project, from: string, to: string) =>
  checkpoints.move(workspace, by('rename'), from, to)

export const restore = ({ checkpoints, workspace }: Project, id: string) =>
  checkpoints.restore(workspace, id, by('restore'))

/** The checkpoints of the project, newest first. */
export const all = ({ records, projectId }: Project) => records.list(projectId, { limit: 100 })

export async function newest(project: Project) {
  const [row] = await all(project)
  if (row === undefined) throw new Error('no checkpoint')
  return row
}

/** The checkpoints as a restarted process opens them, with the same folders and rows. */
export const afterRestart = (database: Database, project: Project) =>
  createCheckpoints({
    ...project,
    outsideContents: createOutsideContentRepository(database),
    mutex: createKeyedMutex(10_000),
    rule: { keep: 200, maxAgeDays: 30, maxBytes: 1e9 },
    log: { warn() {} },
  })
