// A skill that a person adds to a project: unpacked among its files, where it waits until each member has read it.
import { Readable } from 'node:stream'
import { appError } from '../errors.ts'
import { placeUpload } from '../workspace/checkpoints/place-upload.ts'
import { startUpload } from '../workspace/files/uploads.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import { SKILL_LIMITS } from './found-skill.ts'
import { PROJECT_FOLDERS, type Skills } from './skills.ts'
import { readUploadedSkill, type SkillUpload, skillTooLarge } from './uploaded-skill.ts'

/**
 * Unpacks an upload into the project's folder of skills as one change, in place of whatever its folder holds. The caller has
 * checked that the user may change the project.
 * @returns its name. @throws AppError `skill_invalid`, `skill_too_large`, `conflict` for more skills than are read, and as
 *   `placeUpload` does; nothing is changed then.
 */
export async function addProjectSkill(
  bytes: Buffer,
  workspace: Workspace,
  {
    services,
    skills: { folders },
  }: {
    services: Pick<WorkspaceServices, 'workspaces' | 'pool' | 'checkpoints'>
    skills: Pick<Skills, 'folders'>
  },
): Promise<string> {
  const { name, files } = await readUploadedSkill(bytes)
  const entries = entriesOf(files)
  const [base] = PROJECT_FOLDERS
  const upload = await startUpload(
    services.workspaces,
    services.pool,
    { bytes: SKILL_LIMITS.bytes, files: SKILL_LIMITS.files },
    workspace.actorId,
  )
  try {
    for (const { path, content } of files) await upload.add(path, Readable.from([content]))
    await placeUpload(services, workspace, upload, `${base}/${name}`, {
      replaces: true,
      check: () => folders.assertRoom(workspace.root, base, { name, entries }),
    })
  } finally {
    await upload.discard()
  }
  return name
}

/**
 * How many files and folders a skill has where it is unpacked. @throws AppError if a folder of them would be read as invalid:
 * in an archive, only the files are counted, and SKILL.md may be at the root.
 */
function entriesOf(files: SkillUpload['files']): number {
  const folders = new Set<string>()
  for (const { path } of files) {
    const above = path.split('/').slice(0, -1)
    if (above.length >= SKILL_LIMITS.depth)
      throw appError('skill_invalid', {
        detail: `its folders are more than ${SKILL_LIMITS.depth} deep.`,
      })
    for (const depth of above.keys()) folders.add(above.slice(0, depth + 1).join('/'))
  }
  const entries = files.length + folders.size
  if (entries > SKILL_LIMITS.files) throw skillTooLarge()
  return entries
}
