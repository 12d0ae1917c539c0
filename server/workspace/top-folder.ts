// The top folder of a project, as its description for models lists it.
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Checkpoints } from './checkpoints/checkpoints.ts'
import { openStored, type StoredProjects } from './open-project.ts'

/** Reads the top folders of projects. Call it for members only: it does not ask who reads. */
export function createTopFolders(
  stored: StoredProjects,
  { outsideText }: Pick<Checkpoints, 'outsideText'>,
) {
  return {
    list: async (userId: UserId, id: ProjectId) => (await openStored(stored, userId, id)).list(''),
    /** Those of the names that may come from outside. */
    namesFromOutside: async (userId: UserId, id: ProjectId, names: readonly string[]) =>
      outsideText.namesIn(await openStored(stored, userId, id), names),
  }
}
