// A person removes a grant: from the next call on, they are asked again.
import type { Writer } from '../db/database.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { ScheduleId } from '../protocol/schedules/schedule.ts'
import { keyOf } from './covering.ts'
import { announceGrant, auditedGrant, type GrantDependencies } from './create.ts'

/** Removes a grant of the user with its audit entry. @throws AppError `grant_not_found`. */
export async function removeGrant(
  userId: UserId,
  id: string,
  actor: Actor,
  dependencies: Pick<GrantDependencies, 'store' | 'database' | 'announce' | 'now'>,
): Promise<void> {
  const { store, database, now } = dependencies
  const found = await store.grants.find(userId, id)
  if (found === undefined) throw appError('grant_not_found')
  const { match, runId, conversationId } = found
  await database.write(async (tx) => {
    // The conversation comes first, as when it is deleted with its grants; the reverse order could deadlock.
    if (match === null && runId === null && conversationId !== null)
      await store.conversations.removeApproval(tx, conversationId, keyOf(found))
    const removed = await store.grants.remove(tx, userId, id)
    if (removed === undefined) throw appError('grant_not_found')
    await store.audit.record(tx, actor, {
      action: 'grant_removed',
      at: now(),
      details: auditedGrant(removed),
    })
  })
  announceGrant({ id, userId }, 'deleted', dependencies)
}

/**
 * Removes the grants of a schedule that no longer does what they were given for, with their audit entries, in the transaction of
 * its change.
 * @returns their ids, which `announceGrant` tells the pages after the commit.
 */
export async function removeScheduleGrants(
  tx: Writer,
  id: ScheduleId,
  actor: Actor,
  { store, now }: Pick<GrantDependencies, 'store' | 'now'>,
): Promise<string[]> {
  const removed = await store.grants.removeOfSchedule(tx, id)
  for (const grant of removed)
    await store.audit.record(tx, actor, {
      action: 'grant_removed',
      at: now(),
      details: auditedGrant(grant),
    })
  return removed.map((grant) => grant.id)
}
