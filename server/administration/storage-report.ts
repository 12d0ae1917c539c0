// The storage of each account and of all together, for administrators.
import { z } from 'zod'
import { decodeCursor, toPage } from '../db/cursor.ts'
import type { Store } from '../db/store.ts'
import type { AccountStorage, StorageOverview, StoredBytes } from '../protocol/admin/server.ts'
import type { UserId } from '../protocol/ids.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'

const Position = z.tuple([z.int().min(0), z.string().min(1).max(64)])

const NOTHING: StoredBytes = { projects: 0, history: 0, files: 0, documents: 0, total: 0 }

/** What accounts store, largest first, and all of them together. @throws AppError `cursor_invalid`. */
export type StorageReport = (limit: number, cursor: string | undefined) => Promise<StorageOverview>

/** Lists the accounts that store most first; measures unmeasured projects, one after the other. */
export const createStorageReport =
  ({
    storage,
    workspace,
    limitOf,
  }: {
    storage: Store['storage']
    workspace: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'>
    limitOf(userId: UserId): number
  }): StorageReport =>
  async (limit, cursor) => {
    const after = cursor === undefined ? undefined : decodeCursor(Position, cursor)
    const projects = await storage.projects()
    const unmeasured = projects.filter(({ measured }) => !measured)
    // As a side effect, this measures the projects of a user.
    for (const userId of new Set(unmeasured.map((project) => project.userId)))
      await workspace.workspaces.storage.left(userId)
    const history = new Map<UserId, number>()
    for (const { id, userId } of projects)
      history.set(
        userId,
        (history.get(userId) ?? 0) + (await workspace.checkpoints.historySize(id)),
      )
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
