// The unfinished runs of all users, for administrators: list them without their content, stop one.
import type { ChatService } from '../chat/chat-service.ts'
import type { Store } from '../db/store.ts'
import { withoutAbsent } from '../lib/without-absent.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { AdminRun } from '../protocol/admin/server.ts'
import type { RunId, UserId } from '../protocol/ids.ts'

/** Oldest first. */
export async function listActiveRuns(store: Pick<Store, 'runs' | 'users'>): Promise<AdminRun[]> {
  const runs = await store.runs.unfinished()
  const names = new Map<UserId, string>()
  for (const id of new Set(runs.map(({ userId }) => userId)))
    names.set(id, (await store.users.find(id))?.username ?? '')
  return runs.map((run) => ({
    id: run.id,
    user_id: run.userId,
    username: names.get(run.userId) ?? '',
    model: run.model,
    kind: run.kind,
    status: run.status,
    iteration: run.iteration,
    started_at: (run.startedAt ?? run.createdAt).toISOString(),
  }))
}

/** Adds the audit entry before the run ends. Resolves to false if there is no such unfinished run. */
export async function stopActiveRun(
  {
    store: { runs, users, audit },
    chat,
  }: { store: Pick<Store, 'runs' | 'users' | 'audit'>; chat: Pick<ChatService, 'runs'> },
  actor: Actor,
  id: RunId,
): Promise<boolean> {
  const run = (await runs.unfinished()).find((each) => each.id === id)
  if (run === undefined) return false
  const account = (await users.find(run.userId))?.username
  await audit.add({
    ...actor,
    action: 'run_stopped',
    at: new Date(),
    details: { id, ...withoutAbsent({ account }), ...actor.details },
  })
  await chat.runs.stop(id, 'stopped')
  return true
}
