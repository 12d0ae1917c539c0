// Tells the open pages of everybody in a project that its files have changed, by whatever way.
import type { CheckpointFile } from '../db/tables/projects/checkpoints.ts'
import type { Change } from '../protocol/change.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ChangeListener } from './checkpoints/checkpoints.ts'

/** Changes of a project within this time are told together: a run may write many files. */
const TOGETHER_MS = 20
/** The same in a project with many people. */
const TOGETHER_OF_MANY_MS = 1_000
const MANY = 200
/** People that are told before other work continues, and in one message to other instances. */
const TOLD_AT_ONCE = 1_000

/** What telling needs. */
export interface FileAnnouncerDependencies {
  members: { isShared(id: ProjectId): Promise<boolean>; people(id: ProjectId): Promise<UserId[]> }
  changes: { publishToAll(userIds: readonly UserId[], change: Change): void }
  log: { warn(details: object, message: string): void }
  /** More people than this are many. */
  many?: number
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
  many = MANY,
}: FileAnnouncerDependencies): ChangeListener {
  const pending = new Map<ProjectId, PendingProject>()
  /** Projects whose changes are being told. */
  const telling = new Set<ProjectId>()

  /** @returns how many people were told. */
  const tell = async (projectId: ProjectId, { actors, told }: PendingProject): Promise<number> => {
    const change: Change = { type: 'file', ...told, project_id: projectId }
    // At once, and whatever becomes of the queries: it is their page that waits for it.
    changes.publishToAll([...actors], change)
    if (!(await members.isShared(projectId))) return actors.size
    const people = await members.people(projectId)
    const others = people.filter((person) => !actors.has(person))
    for (let at = 0; at < others.length; at += TOLD_AT_ONCE) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve))
      changes.publishToAll(others.slice(at, at + TOLD_AT_ONCE), change)
    }
    return people.length
  }
  /** One after another: what changes meanwhile is told together afterwards. */
  const tellAll = async (projectId: ProjectId): Promise<void> => {
    telling.add(projectId)
    let pause = TOGETHER_MS
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause).unref())
      const noted = pending.get(projectId)
      if (noted === undefined) break
      pending.delete(projectId)
      try {
        pause = (await tell(projectId, noted)) > many ? TOGETHER_OF_MANY_MS : TOGETHER_MS
      } catch (error) {
        log.warn({ err: error, projectId }, 'open pages were not told of changed files')
      }
    }
    telling.delete(projectId)
  }
  return (projectId, actorId, files) => {
    const told = toldOf(files)
    const noted = pending.get(projectId)
    if (noted === undefined) pending.set(projectId, { actors: new Set([actorId]), told })
    else {
      noted.actors.add(actorId)
      if (noted.told.id !== told.id) noted.told = SEVERAL
      else noted.told = told
    }
    if (!telling.has(projectId)) void tellAll(projectId)
  }
}
