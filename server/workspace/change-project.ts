// A person changes a project: its name, what its conversations get, and who decides in it.
import { isDeepStrictEqual } from 'node:util'
import type { Writer } from '../db/database.ts'
import type { Approver, NamedApprover } from '../db/repositories/projects/approvers.ts'
import { approvalByOf, type ProjectRow } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { GroupId } from '../protocol/admin/group.ts'
import { FileId, type ProjectId, UserId } from '../protocol/ids.ts'
import { isEmoji, Principal, type UpdateProjectBody } from '../protocol/projects/project.ts'

/** What the act needs. */
interface Dependencies {
  store: Pick<Store, 'projects' | 'approvers' | 'audit' | 'files'>
  /** Whether the server has more than one person. */
  hasAccounts: boolean
}

/**
 * Changes a project in one transaction, with an audit entry if others decide in it afterwards.
 * The caller has checked that the user may. @param storedBy the user who stores it.
 * @returns the project and its approvers afterwards.
 * @throws AppError `project_not_found`, `project_is_scratch`, `project_name_taken`, `approvers_need_accounts`, `approver_unknown`, `icon_not_image`.
 */
export async function changeProject(
  { userId, storedBy, id }: { userId: UserId; storedBy: UserId; id: ProjectId },
  { name, description, icon, approvers, ...settings }: UpdateProjectBody,
  actor: Actor,
  { store, hasAccounts }: Dependencies,
): Promise<{ row: ProjectRow; approvers: NamedApprover[] }> {
  const needsOthers = settings.approval_by === 'others' || (approvers ?? []).length > 0
  if (needsOthers && !hasAccounts) throw appError('approvers_need_accounts')
  // Others may keep the image that somebody else has chosen.
  const isNew = async () => (await store.projects.find(userId, id))?.icon !== icon
  if (icon != null && !isEmoji(icon) && (await isNew())) {
    const file = await store.files.find(userId, FileId.parse(icon))
    if (file?.kind !== 'image') throw appError('icon_not_image')
  }
  let named: NamedApprover[] = []
  const row = await store.projects.update(
    storedBy,
    id,
    { name, namedBy: userId, description, icon, settings },
    async (tx, { before, after }) => {
      if (before.scratch) throw appError('project_is_scratch')
      named = await store.approvers.list(id, tx)
      const known = named.map(({ principal }) => principal)
      const wanted = approvers === undefined ? known : await principalsOf(tx, approvers, store)
      const isSame = isDeepStrictEqual(wanted, known)
      if (!isSame) {
        const [unknown] = await store.approvers.replace(tx, id, wanted.map(approverOf))
        if (unknown !== undefined) throw appError('approver_unknown', { approver: unknown })
        named = await store.approvers.list(id, tx)
      }
      const [was, is] = [approvalByOf(before), approvalByOf(after)]
      if (isSame && was === is) return
      await store.audit.record(tx, actor, {
        action: 'approvers_changed',
        at: after.updatedAt,
        details: {
          id,
          project: after.name,
          approvers: wanted.join(', '),
          approvers_before: known.join(', '),
          approval_by: is,
          approval_by_before: was,
        },
      })
    },
  )
  if (row === undefined) throw appError('project_not_found')
  return { row, approvers: named }
}

/** What the entries name, each once, sorted. @throws AppError `approver_unknown`. */
async function principalsOf(
  tx: Writer,
  given: readonly string[],
  { approvers }: Dependencies['store'],
): Promise<Principal[]> {
  const found: Principal[] = []
  for (const entry of new Set(given)) {
    const [kind, name = ''] = entry.split(':@', 2)
    const principal =
      name === ''
        ? Principal.safeParse(entry).data
        : await approvers.named(
            tx,
            kind === 'group' ? 'group' : 'user',
            entry.slice(entry.indexOf('@') + 1),
          )
    if (principal === undefined) throw appError('approver_unknown', { approver: entry })
    found.push(principal)
  }
  return [...new Set(found)].sort()
}

/** Splits `user:<id>` and `group:<id>`. */
function approverOf(principal: Principal): Approver {
  const id = principal.slice(principal.indexOf(':') + 1)
  return principal.startsWith('user:')
    ? { principal, userId: UserId.parse(id), groupId: null }
    : { principal, userId: null, groupId: GroupId.parse(id) }
}
