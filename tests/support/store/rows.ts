// Users and projects that other rows reference, for tests that start with an empty database.
import type { Database } from '../../../server/db/database.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'

/** Inserts an active user; returns the id. */
export async function addUser(database: Database): Promise<UserId> {
  const id = newId<UserId>()
  await database.write(async (tx) => {
    await tx.insert(database.tables.users).values({
      id,
      username: id,
      usernameKey: id,
      role: 'user',
      isActive: true,
      tokenVersion: 0,
      createdAt: new Date(),
    })
  })
  return id
}

/** Inserts a project of the user, without a folder on disk; returns the id. */
export async function addProject(database: Database, userId: UserId): Promise<ProjectId> {
  const id = newId<ProjectId>()
  const now = new Date()
  await database.write(async (tx) => {
    await tx
      .insert(database.tables.projects)
      .values({ id, userId, name: id, createdAt: now, updatedAt: now })
  })
  return id
}
