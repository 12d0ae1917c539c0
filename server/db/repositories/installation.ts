// What a database refers to outside of itself, to recognize the files that belong to it.
import { asc, desc, eq, exists } from 'drizzle-orm'
import type { Database } from '../database.ts'

/**
 * The key, among the server's settings, of the id under which the instances of a database meet in Redis, which several
 * databases may share.
 */
export const CLUSTER_KEY = 'cluster'

/** Samples of what a database refers to in the places of its files. */
export interface InstallationReferences {
  /** Nobody has used the database yet. */
  isFresh: boolean
  /** Blobs of files, SHA-256. */
  blobs: readonly string[]
  users: readonly string[]
  /** Projects whose files were changed, so that they have folders. */
  projects: readonly { id: string; userId: string }[]
}

/** A database that does not exist yet. */
export const NO_REFERENCES: InstallationReferences = {
  isFresh: true,
  blobs: [],
  users: [],
  projects: [],
}

/** Rows of each kind: enough to recognize an installation, few enough for a bucket. */
const SAMPLE = 50

/** Uses the tables `users`, `files`, `projects` and `checkpoints`. */
export function createInstallationRepository({ read, tables }: Database) {
  const { users, files, projects, checkpoints } = tables
  return {
    /** Some rows of each kind. */
    async references(): Promise<InstallationReferences> {
      const people = await read
        .select({ id: users.id })
        .from(users)
        .orderBy(desc(users.createdAt))
        .limit(SAMPLE)
      // From both ends, because the newest or the oldest may be lost.
      const [newest = [], oldest = []] = await Promise.all(
        [desc, asc].map((order) =>
          read
            .select({ sha256: files.sha256 })
            .from(files)
            .orderBy(order(files.createdAt))
            .limit(SAMPLE),
        ),
      )
      const blobs = [...newest, ...oldest]
      const changed = read
        .select({ id: checkpoints.id })
        .from(checkpoints)
        .where(eq(checkpoints.projectId, projects.id))
      const withFiles = await read
        .select({ id: projects.id, userId: projects.userId })
        .from(projects)
        .where(exists(changed))
        .orderBy(desc(projects.createdAt))
        .limit(SAMPLE)
      return {
        isFresh: people.length === 0,
        blobs: blobs.map(({ sha256 }) => sha256),
        users: people.map(({ id }) => id),
        projects: withFiles,
      }
    },
  }
}
