// Tells the open pages of everybody in a project that its files have changed, by whatever way.
import type { Change } from '../protocol/change.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'

/** Changes of a project within this time are told together: a run may write many files. */
const TOGETHER_MS = 50
/** In a project with more people, only those with an open page are told, as far as this process knows. */
const MAX_TOLD = 200

/** What telling needs. */
export interface FileAnnouncerDependencies {
  members: { isShared(id: ProjectId): Promise<boolean>; people(id: ProjectId): Promise<UserId[]> }
  changes: { publish(userId: UserId, change: Change): void; isFollowed(userId: UserId): boolean }
  log: { warn(details: object, message: string): void }
}

/** A project with changes that are not told yet. */
interface PendingProject {
  /** Who made them. */
  actors: Set<UserId>
  /** The only file that has changed; '' if there are several. */
  path: string
}

/** Create one per server, and call it after each change: with the project, who made it, and the paths of the files. */
export function createFileAnnouncer({
  members,
  changes,
  log,
}: FileAnnouncerDependencies): (
  projectId: ProjectId,
  actorId: UserId,
  paths: readonly string[],
) => void {
  const pending = new Map<ProjectId, PendingProject>()

  const tell = async (projectId: ProjectId, { actors, path }: PendingProject): Promise<void> => {
    const told = new Set(actors)
    if (await members.isShared(projectId)) {
      const people = await members.people(projectId)
      for (const person of people)
        if (people.length <= MAX_TOLD || changes.isFollowed(person)) told.add(person)
    }
    for (const person of told)
      changes.publish(person, { type: 'file', id: path, change: 'updated', project_id: projectId })
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
  return (projectId, actorId, paths) => {
    const [only = ''] = paths.length === 1 ? paths : []
    const noted = pending.get(projectId)
    if (noted === undefined) {
      pending.set(projectId, { actors: new Set([actorId]), path: only })
      setTimeout(() => void flush(projectId), TOGETHER_MS).unref()
    } else {
      noted.actors.add(actorId)
      if (noted.path !== only) noted.path = ''
    }
  }
}
