// Rows that other rows need, for tests that begin with an empty database.
import type { Database } from '../../server/db/database.ts'
import { newId } from '../../server/lib/ids.ts'
import type { ProjectId, UserId } from '../../server/protocol/ids.ts'

/** Somebody who can own things. */
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

/** A project of theirs, without a folder on the disk. */
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
