// What administrators change of an account: role, limits, whether it is active, and its sessions. Each act leaves its audit entry.
import type { ServerResponse } from 'node:http'
import type { Access } from '../access/access.ts'
import { quotaChanges } from '../access/quota-changes.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { UserRow } from '../db/repositories/accounts/users.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import type { PatchQuota } from '../protocol/accounts/quota.ts'
import { type Actor, auditedFields } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import { type AccountEndDependencies, bringProjectsBack, endAccess } from './end-account.ts'

/** What an administrator changes; absent fields stay unchanged. */
interface AccountChange {
  role?: 'admin' | 'user' | undefined
  is_active?: boolean | undefined
  quota?: PatchQuota | undefined
}

/**
 * Disabling ends the runs and open streams of the account; another role closes its streams, which were opened with the former.
 * @param kept a response to the account that is not closed.
 * @throws AppError `account_not_found`, `last_administrator`.
 */
export async function changeAccount(
  dependencies: Pick<AccountEndDependencies, 'store' | 'workspace' | 'chat' | 'connections'> & {
    access: Pick<Access, 'reload'>
  },
  actor: Actor,
  id: UserId,
  change: AccountChange,
  kept?: ServerResponse,
): Promise<UserRow> {
  const { store, access, connections } = dependencies
  const { role, is_active: isActive, quota } = change
  const before = await store.users.find(id)
  if (before?.isActive === false && isActive === true) await bringProjectsBack(dependencies, id)
  const changed = await store.users.update(id, withoutAbsent({ role, isActive }), {
    async after(tx, { username }) {
      const limits = quota === undefined ? null : await store.quotas.change(tx, id, quota)
      await store.audit.record(tx, actor, {
        action: 'account_changed',
        at: new Date(),
        details: {
          id,
          ...auditedFields(change, ['role', 'is_active']),
          account: username,
          ...(limits === null ? {} : quotaChanges(limits.before, limits.after)),
        },
      })
    },
  })
  if (changed === undefined) throw appError('account_not_found')
  if (!changed.isActive) await endAccess(dependencies, id, kept)
  else if (before?.role !== changed.role) connections.end(id, { kept })
  if (quota !== undefined) await access.reload()
  return changed
}

/** Ends one session of an account. @param kept a response that is not closed. @throws AppError `session_not_found`. */
export async function endSession(
  { store: { users }, sessions }: { store: Pick<Store, 'users'>; sessions: Pick<Sessions, 'end'> },
  actor: Actor,
  { id, sessionId }: { id: UserId; sessionId: string },
  kept?: ServerResponse,
): Promise<void> {
  const account = (await users.find(id))?.username
  const details = { id, session_id: sessionId, ...withoutAbsent({ account }) }
  await sessions.end(id, sessionId, { actor, action: 'sessions_ended', details }, kept)
}

/** Signs an account out everywhere; its API keys remain valid. @throws AppError `account_not_found`. */
export async function endSessions(
  { users, audit }: Pick<Store, 'users' | 'audit'>,
  actor: Actor,
  id: UserId,
): Promise<void> {
  const changed = await users.update(
    id,
    { endSessions: true },
    {
      after: (tx, { username }) =>
        audit.record(tx, actor, {
          action: 'sessions_ended',
          at: new Date(),
          details: { id, account: username },
        }),
    },
  )
  if (changed === undefined) throw appError('account_not_found')
}
