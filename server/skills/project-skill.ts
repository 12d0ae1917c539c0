// A skill that a person adds to a project: unpacked among its files, where it waits until each member has read it.
import { Readable } from 'node:stream'
import { placeUpload } from '../workspace/checkpoints/place-upload.ts'
import { startUpload } from '../workspace/files/uploads.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import { SKILL_LIMITS } from './found-skill.ts'
import { PROJECT_FOLDERS } from './skills.ts'
import { readUploadedSkill } from './uploaded-skill.ts'

/**
 * Unpacks an upload into the project's folder of skills as one change, in place of whatever its folder holds. The caller has
 * checked that the user may change the project.
 * @returns its name. @throws AppError `skill_invalid`, `skill_too_large`, and as `placeUpload` does; nothing is changed then.
 */
export async function addProjectSkill(
  bytes: Buffer,
  workspace: Workspace,
  { services }: { services: Pick<WorkspaceServices, 'workspaces' | 'pool' | 'checkpoints'> },
): Promise<string> {
  const { name, files } = await readUploadedSkill(bytes)
  const upload = await startUpload(
    services.workspaces,
    services.pool,
    { bytes: SKILL_LIMITS.bytes, files: SKILL_LIMITS.files },
    workspace.actorId,
  )
  try {
    for (const { path, content } of files) await upload.add(path, Readable.from([content]))
    await placeUpload(services, workspace, upload, `${PROJECT_FOLDERS[0]}/${name}`, {
      replaces: true,
    })
  } finally {
    await upload.discard()
  }
  return name
}
