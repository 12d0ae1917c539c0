// The files of skills that programs read: those that a person can use now, as they were accepted.
import type { ProjectId, UserId } from '../protocol/ids.ts'

/** Reads the files of active skills. Null as project: none. */
export interface SkillFiles {
  /**
   * The contents of files, by `<name>/<path>`; null if they have more than `maxBytes` together.
   * @param isWanted which ones.
   */
  activeContents(
    userId: UserId,
    projectId: ProjectId | null,
    isWanted: (path: string) => boolean,
    maxBytes: number,
  ): Promise<{ path: string; content: Buffer }[] | null>
}
