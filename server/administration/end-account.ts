// Ends an account: with its data, without it, or with the data handed over to another account. Undoes half of it.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Passwords } from '../auth/passwords.ts'
import type { ChatService } from '../chat/chat-service.ts'
import type { Writer } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { mergeMemories } from '../knowledge/memory.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { Change } from '../protocol/change.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { removeProject } from '../workspace/remove-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** `keep`: nobody can sign in any more, and the data stays. `heir`: the user who receives the data. */
export type AccountEnd = { data: 'delete' | 'keep' } | { data: 'hand_over'; heir: UserId }

/** An end of an account for somebody, whom the audit log names. */
export type AccountEndRequest = AccountEnd & { actor: Actor }

/** The dependencies of the deletion of an account. */
export interface AccountEndDependencies {
  store: Store
  workspace: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'>
  passwords: Pick<Passwords, 'hash'>
  /** Removes the documents of a project with their passages. */
  knowledge: { removeProject(id: ProjectId): Promise<void> }
  /** Removes the files of the account's exports. */
  transfers: { removeExports(id: UserId): Promise<void> }
  chat: Pick<ChatService, 'stopProject' | 'stopUser'>
  /** Tells the pages of users. */
  changes: { publish(userId: UserId, change: Change): void }
  connections: OpenRequests
  now(): Date
}

/** The open requests of users. */
interface OpenRequests {
  end(id: UserId, options: { kept: ServerResponse | undefined }): void
}

/** Ends the runs of a user and closes the responses that are being sent to them, except `kept`. */
export async function endAccess(
  { connections, chat }: { connections: OpenRequests; chat: Pick<ChatService, 'stopUser'> },
  id: UserId,
  kept?: ServerResponse,
): Promise<void> {
  connections.end(id, { kept })
  await chat.stopUser(id)
}

/**
 * Can be repeated after an interruption. The audit entry is stored with the last change. False when there is no such
 * account.
 * @param kept a response to the account that is not closed.
 * @throws AppError `last_administrator`, `account_not_found` for an heir that does not exist, `heir_is_same`.
 */
export async function endAccount(
  dependencies: AccountEndDependencies,
  id: UserId,
  end: AccountEndRequest,
  kept?: ServerResponse,
): Promise<boolean> {
  const { store, now } = dependencies
  let heirName: string | undefined
  if (end.data === 'hand_over') {
    if (end.heir === id) throw appError('heir_is_same')
    const heir = await store.users.find(end.heir)
    if (heir?.isActive !== true) throw appError('account_not_found')
    heirName = heir.username
  }
  // Prevents use of the account from here on, and refuses to end the last administrator.
  const account = await store.users.update(id, { isActive: false })
  if (account === undefined) return false
  const record = (tx: Writer): Promise<void> =>
    store.audit.record(tx, end.actor, {
      action: 'account_deleted',
      at: now(),
      details: {
        id,
        account: account.username,
        data: end.data,
        ...(heirName === undefined ? {} : { heir: heirName }),
      },
    })
  await endAccess(dependencies, id, kept)
  // A hand-over that died may have moved a folder, whatever happens to the data now.
  await bringProjectsBack(dependencies, id)
  if (end.data === 'keep') {
    // Nobody knows this password; with a link from an administrator the account can be revived.
    const passwordHash = await dependencies.passwords.hash(randomBytes(32).toString('base64url'))
    await store.accountData.removeAccess(id)
    await store.users.update(id, { passwordHash, revokeKeys: true }, { after: record })
    return true
  }
  if (end.data === 'hand_over') await handOver(dependencies, id, end.heir, account.username)
  else await removeProjects(dependencies, id, account.username)
  await dependencies.transfers.removeExports(id)
  // The remaining data is deleted with the row; file contents are collected once nothing refers to them.
  await store.users.remove(id, record)
  return true
}

/**
 * For an account that is enabled again: the folders that a hand-over has moved without their rows, because it died, come back.
 * What the heir has received completely stays there.
 */
export async function bringProjectsBack(
  { store, workspace }: { store: Store; workspace: { workspaces: Pick<Workspaces, 'bringBack'> } },
  id: UserId,
): Promise<void> {
  for (const projectId of await store.projects.ids(id))
    await workspace.workspaces.bringBack(id, projectId)
}

/** Removes the projects of which the account is the last owner. Another owner receives those that it stores and others own. */
async function removeProjects(
  dependencies: AccountEndDependencies,
  id: UserId,
  name: string,
): Promise<void> {
  const { store, workspace, knowledge, chat } = dependencies
  const remove = async (userId: UserId, projectId: ProjectId): Promise<void> => {
    const people = await store.members.people(projectId)
    await removeProject(
      { projects: store.projects, workspace, knowledge },
      { userId, id: projectId },
      () => chat.stopProject(projectId),
    )
    tell(dependencies, people, { type: 'project', id: projectId, change: 'deleted' })
  }
  for (const projectId of await store.projects.ids(id)) {
    // The account can no longer sign in, so it is not among them.
    // One who is disabled for a while keeps the project rather than losing it.
    const [owner] = [
      ...(await store.members.owners(projectId)),
      ...(await store.members.disabledOwners(projectId, id)),
    ]
    if (owner === undefined) await remove(id, projectId)
    else {
      await handOverProject(dependencies, projectId, { from: id, to: owner, label: name })
      await makeOwner(dependencies, projectId, owner)
    }
  }
  for (const { projectId, storedBy } of await store.members.ownedBy(id))
    if (
      (await store.members.owners(projectId)).length === 0 &&
      (await store.members.disabledOwners(projectId, id)).length === 0
    )
      await remove(storedBy, projectId)
}

/**
 * Gives the rows and the folder of a project to another user, while nobody changes its files, and tells its members. Runs in it
 * end with this reason: they know the folder at its old place.
 */
async function handOverProject(
  dependencies: Pick<AccountEndDependencies, 'store' | 'workspace' | 'changes' | 'chat'>,
  projectId: ProjectId,
  { from, to, label }: { from: UserId; to: UserId; label: string },
): Promise<void> {
  const { store, workspace, chat } = dependencies
  const { workspaces, checkpoints } = workspace
  const before = await store.members.people(projectId)
  await chat.stopProject(projectId, 'project_handed_over')
  await checkpoints.handOver(workspaces.open(from, projectId), async () => {
    await workspaces.handOver(projectId, { from, to })
    await store.accountData.handOverProject(projectId, { from, to, label })
  })
  // Some may have begun meanwhile.
  await chat.stopProject(projectId, 'project_handed_over')
  await tellMembers(dependencies, projectId, before)
}

async function makeOwner(
  dependencies: Pick<AccountEndDependencies, 'store' | 'changes'>,
  projectId: ProjectId,
  owner: UserId,
): Promise<void> {
  const { members } = dependencies.store
  const before = await members.people(projectId)
  await members.makeOwner(projectId, owner)
  await tellMembers(dependencies, projectId, before)
}

/** Tells everybody who sees the project now. @param before who saw it before the change. */
async function tellMembers(
  dependencies: Pick<AccountEndDependencies, 'store' | 'changes'>,
  id: ProjectId,
  before: readonly UserId[],
): Promise<void> {
  for (const person of await dependencies.store.members.people(id)) {
    const change = before.includes(person) ? 'updated' : 'created'
    tell(dependencies, [person], { type: 'project', id, change })
  }
}

const tell = (
  { changes }: Pick<AccountEndDependencies, 'changes'>,
  people: readonly UserId[],
  change: Change,
): void => {
  for (const person of people) changes.publish(person, change)
}

async function handOver(
  dependencies: AccountEndDependencies,
  from: UserId,
  to: UserId,
  name: string,
): Promise<void> {
  const { store } = dependencies
  for (const projectId of await store.projects.ids(from))
    await handOverProject(dependencies, projectId, { from, to, label: name })
  for (const { projectId } of await store.members.ownedBy(from))
    if ((await store.members.owners(projectId)).length === 0)
      await makeOwner(dependencies, projectId, to)
  await store.accountData.handOver(from, to)
  const memory = await store.settings.memory(from)
  if (memory.trim() !== '')
    await store.settings.changeMemory(to, (own) => mergeMemories(own, memory, `Memory of ${name}`))
}
