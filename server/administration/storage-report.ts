// The storage of each account and of all together, for administrators.
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { decodeCursor, toPage } from '../db/cursor.ts'
import type { Store } from '../db/store.ts'
import type { AccountStorage, StorageOverview, StoredBytes } from '../protocol/admin/server.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'

const Position = z.tuple([z.int().min(0), z.string().min(1).max(64)])

const NOTHING: StoredBytes = { projects: 0, history: 0, files: 0, documents: 0, total: 0 }

/** How long a report waits for what is being measured; the rest is in a later one. */
const WAIT_MS = 2_000

/** What accounts store, largest first, and all of them together. @throws AppError `cursor_invalid`. */
export type StorageReport = (limit: number, cursor: string | undefined) => Promise<StorageOverview>

/**
 * Lists the accounts that store most first. Measures projects and histories one after the other, for all who ask at the same
 * time; what takes long goes on after the response.
 */
export function createStorageReport({
  storage,
  workspace,
  limitOf,
  waitMs = WAIT_MS,
}: {
  storage: Pick<Store['storage'], 'projects' | 'byUser'>
  workspace: {
    workspaces: { storage: Pick<WorkspaceServices['workspaces']['storage'], 'left'> }
    checkpoints: Pick<WorkspaceServices['checkpoints'], 'historySize'>
  }
  limitOf(userId: UserId): number
  waitMs?: number
}): StorageReport {
  const histories = new Map<ProjectId, number>()
  let measuring: Promise<void> | null = null
  async function measure(): Promise<void> {
    const projects = await storage.projects()
    const known = new Set(projects.map(({ id }) => id))
    for (const id of histories.keys()) if (!known.has(id)) histories.delete(id)
    const unmeasured = projects.filter(({ measured }) => !measured)
    // As a side effect, this measures the projects of a user.
    for (const userId of new Set(unmeasured.map((project) => project.userId)))
      await workspace.workspaces.storage.left(userId)
    for (const { id } of projects) histories.set(id, await workspace.checkpoints.historySize(id))
  }
  return async (limit, cursor) => {
    const after = cursor === undefined ? undefined : decodeCursor(Position, cursor)
    measuring ??= measure().finally(() => {
      measuring = null
    })
    // Whoever still waits gets the error; without them, the next report tries again.
    measuring.catch(() => undefined)
    await Promise.race([measuring, pause(waitMs, undefined, { ref: false })])
    const history = new Map<UserId, number>()
    for (const { id, userId } of await storage.projects())
      history.set(userId, (history.get(userId) ?? 0) + (histories.get(id) ?? 0))
    const accounts = (await storage.byUser()).map((stored): AccountStorage => {
      const { userId, username, projects: inProjects, files, documents } = stored
      const earlier = history.get(userId) ?? 0
      return {
        user_id: userId,
        username,
        projects: inProjects,
        history: earlier,
        files,
        documents,
        total: inProjects + earlier + files + documents,
        limit: limitOf(userId),
      }
    })
    const all = accounts.reduce(
      (sum, one) => ({
        projects: sum.projects + one.projects,
        history: sum.history + one.history,
        files: sum.files + one.files,
        documents: sum.documents + one.documents,
        total: sum.total + one.total,
      }),
      NOTHING,
    )
    const following = accounts
      .toSorted((one, other) => other.total - one.total || (one.user_id < other.user_id ? -1 : 1))
      .filter(
        ({ total, user_id: id }) =>
          after === undefined || total < after[0] || (total === after[0] && id > after[1]),
      )
    const { items, nextCursor, hasMore } = toPage(following.slice(0, limit + 1), limit, (last) => [
      last.total,
      last.user_id,
    ])
    return { items, next_cursor: nextCursor, has_more: hasMore, all }
  }
}
