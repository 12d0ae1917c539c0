// The members of a project change; and what ends for those who are none any more.
import pLimit from 'p-limit'
import type { Writer } from '../db/database.ts'
import {
  type LostAccess,
  type MemberRow,
  principalOf,
} from '../db/repositories/projects/members.ts'
import { givesRole } from '../db/repositories/projects/membership.ts'
import type { ProjectRow } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { GroupId } from '../protocol/admin/group.ts'
import type { Change } from '../protocol/change.ts'
import { type ProjectId, UserId } from '../protocol/ids.ts'
import { type Member, MemberPrincipal, type ProjectRole } from '../protocol/projects/member.ts'

/** Entries of one project; groups have more people. */
const MAX_MEMBERS = 200
/** People for whom it is stored at the same time what has ended: a group may have thousands. */
const ENDED_AT_ONCE = 8

/** What ending the access of somebody needs. */
export interface MemberDependencies {
  store: Pick<Store, 'projects' | 'members' | 'approvers' | 'audit'>
  /** Stops the runs of these users in these projects; resolves when they have ended, or after a second. */
  stopMembers(lost: readonly LostAccess[]): Promise<void>
  /** Tells the pages of a user. */
  announce(userId: UserId, change: Change): void
  /** How many projects of a user may have other members; null for no limit. */
  maxShared(userId: UserId): number | null
  now(): Date
}

/**
 * Gives a member another role, adds one, or removes one (null): owners may do all of it, and everybody may remove themselves.
 * Resolves when the former rights have ended.
 * @param given `user:<id>`, `user:@<name>`, `group:<id>`, `group:@<name>` or `everyone`.
 * @returns the member; null after a removal.
 * @throws AppError `project_not_found`, `owner_only`, `member_unknown`, `last_owner`, `everyone_cannot_own`,
 * `project_is_scratch`, `members_exhausted`, `projects_shared_used_up`.
 */
export async function changeMember(
  { userId, projectId, given }: { userId: UserId; projectId: ProjectId; given: string },
  role: ProjectRole | null,
  actor: Actor,
  dependencies: MemberDependencies,
): Promise<Member | null> {
  const { store, announce, now } = dependencies
  const changed = await store.members.change(projectId, async (tx, project) => {
    const own = await store.projects.find(userId, projectId, tx)
    if (own === undefined) throw appError('project_not_found')
    if (project.scratch) throw appError('project_is_scratch')
    const member = await memberOf(tx, given, store)
    const leaves = role === null && member?.userId === userId
    if (!leaves && !givesRole(own.role, 'own')) throw appError('owner_only')
    if (member === undefined) throw appError('member_unknown')
    const principal = principalOf(member)
    if (principal === 'everyone' && role === 'own') throw appError('everyone_cannot_own')
    const before = await store.members.roleOf(tx, project, principal)
    if (role === null && before === null) throw appError('member_unknown')
    const name = await store.members.nameOf(tx, member)
    if (name === undefined) throw appError('member_unknown')
    const peopleBefore = await store.members.people(projectId, tx)
    if (before === null && role !== null) await assertRoom(tx, project, member, dependencies)
    await store.members.set(tx, project, member, role)
    if ((await store.members.owners(projectId, tx)).length === 0) throw appError('last_owner')
    if (before !== role)
      await store.audit.record(tx, actor, {
        action: actionOf(before, role),
        at: now(),
        details: {
          id: projectId,
          project: project.name,
          member: principal,
          ...(name === '' ? {} : { name }),
          ...(role === null ? {} : { role }),
          ...(before === null ? {} : { role_before: before }),
        },
      })
    const people = await store.members.people(projectId, tx)
    return {
      member: role === null ? null : { principal, name, role },
      came: people.filter((one) => !peopleBefore.includes(one)),
      stayed: people.filter((one) => peopleBefore.includes(one)),
      went: peopleBefore.filter((one) => !people.includes(one)),
    }
  })
  if (changed === undefined) throw appError('project_not_found')
  const tell = (people: readonly UserId[], change: Change['change']): void => {
    for (const person of people) announce(person, { type: 'project', id: projectId, change })
  }
  await endLostAccess([projectId], dependencies)
  tell(changed.came, 'created')
  tell(changed.stayed, 'updated')
  tell(changed.went, 'deleted')
  return changed.member
}

const actionOf = (before: ProjectRole | null, after: ProjectRole | null) => {
  if (before === null) return 'member_added'
  return after === null ? 'member_removed' : 'member_changed'
}

/**
 * For everybody who has lost the role for what they have in these projects: runs stop, conversations stay theirs without the
 * project, schedules are disabled, apps and grants end. Can be repeated. Rights themselves end with the change of the members:
 * every request looks them up.
 */
export async function endLostAccess(
  projectIds: readonly ProjectId[],
  { store, stopMembers, announce }: Pick<MemberDependencies, 'store' | 'stopMembers' | 'announce'>,
): Promise<void> {
  const lost = await store.members.lost(projectIds)
  if (lost.length === 0) return
  await stopMembers(lost)
  await pLimit(ENDED_AT_ONCE).map(lost, async (one) => {
    for (const id of await store.members.end(one))
      announce(one.userId, { type: 'conversation', id, change: 'updated' })
  })
  // Some may have begun meanwhile; none can begin now.
  await stopMembers(lost)
}

/** @throws AppError if the project has too many members, or the user who stores it shares too many projects. */
async function assertRoom(
  tx: Writer,
  project: ProjectRow,
  member: Pick<MemberRow, 'userId'>,
  { store, maxShared }: Pick<MemberDependencies, 'store' | 'maxShared'>,
): Promise<void> {
  if (member.userId === project.userId) return
  const total = await store.members.total(tx, project.id)
  if (total >= MAX_MEMBERS) throw appError('members_exhausted', { limit: MAX_MEMBERS })
  const limit = maxShared(project.userId)
  if (total > 0 || limit === null) return
  // Another project of the user may be shared for the first time meanwhile.
  await tx.lock(`shared projects of ${project.userId}`)
  if ((await store.members.shared(project.userId, tx)) >= limit)
    throw appError('projects_shared_used_up', { limit }, { status: 403 })
}

/** Who is meant; undefined if the text names nobody. Whether an id exists is not looked up. */
async function memberOf(
  tx: Writer,
  given: string,
  { approvers }: Pick<Store, 'approvers'>,
): Promise<Pick<MemberRow, 'userId' | 'groupId'> | undefined> {
  const [, kind, name] = /^(user|group):@(.+)$/s.exec(given) ?? []
  const named =
    name === undefined
      ? given
      : await approvers.named(tx, kind === 'group' ? 'group' : 'user', name)
  const principal = MemberPrincipal.safeParse(named).data
  if (principal === undefined) return undefined
  if (principal === 'everyone') return { userId: null, groupId: null }
  const id = principal.slice(principal.indexOf(':') + 1)
  return principal.startsWith('user:')
    ? { userId: UserId.parse(id), groupId: null }
    : { userId: null, groupId: GroupId.parse(id) }
}
