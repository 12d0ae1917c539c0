// Tells the open pages of everybody in a project that its files have changed, by whatever way.

import type { CheckpointFile } from '../db/tables/projects/checkpoints.ts'
import type { Change } from '../protocol/change.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ChangeListener } from './checkpoints/checkpoints.ts'

/** Changes of a project within this time are told together: a run may write many files. */
const TOGETHER_MS = 20
/** In a project with more people, only those with an open page are told, as far as this process knows. */
const MAX_TOLD = 200

/** What telling needs. */
export interface FileAnnouncerDependencies {
  members: { isShared(id: ProjectId): Promise<boolean>; people(id: ProjectId): Promise<UserId[]> }
  changes: { publish(userId: UserId, change: Change): void; isFollowed(userId: UserId): boolean }
  log: { warn(details: object, message: string): void }
}

/** What changed: the only file of which that is known, with how; '' for several. */
type Told = Pick<Change, 'id' | 'change'>

/** A project with changes that are not told yet. */
interface PendingProject {
  /** Who made them. */
  actors: Set<UserId>
  told: Told
}

const SEVERAL: Told = { id: '', change: 'updated' }

/** Folders count only if nothing else changed. */
function toldOf(files: readonly CheckpointFile[]): Told {
  const inFolders = files.filter(({ before, after }) => (before ?? after)?.kind !== 'directory')
  const [only, ...others] = inFolders.length > 0 ? inFolders : files
  if (only === undefined || others.length > 0) return SEVERAL
  const { path, before, after } = only
  return {
    id: path,
    change: before === null ? 'created' : after === null ? 'deleted' : 'updated',
  }
}

/** Create one per server: it hears of each change of the files of a project. */
export function createFileAnnouncer({
  members,
  changes,
  log,
}: FileAnnouncerDependencies): ChangeListener {
  const pending = new Map<ProjectId, PendingProject>()

  const tell = async (
    projectId: ProjectId,
    { actors, told: what }: PendingProject,
  ): Promise<void> => {
    const told = new Set(actors)
    if (await members.isShared(projectId)) {
      const people = await members.people(projectId)
      for (const person of people)
        if (people.length <= MAX_TOLD || changes.isFollowed(person)) told.add(person)
    }
    for (const person of told)
      changes.publish(person, { type: 'file', ...what, project_id: projectId })
  }
  const flush = async (projectId: ProjectId): Promise<void> => {
    const noted = pending.get(projectId)
    pending.delete(projectId)
    if (noted === undefined) return
    try {
      await tell(projectId, noted)
    } catch (error) {
      log.warn({ err: error, projectId }, 'open pages were not told of changed files')
    }
  }
  return (projectId, actorId, files) => {
    const told = toldOf(files)
    const noted = pending.get(projectId)
    if (noted === undefined) {
      pending.set(projectId, { actors: new Set([actorId]), told })
      setTimeout(() => void flush(projectId), TOGETHER_MS).unref()
    } else {
      noted.actors.add(actorId)
      if (noted.told.id !== told.id) noted.told = SEVERAL
      else noted.told = told
    }
  }
}
