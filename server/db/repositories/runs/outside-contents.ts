// Hashes of file contents with text from outside, per project.
import { and, eq, inArray } from 'drizzle-orm'
import type { ProjectId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Stores the hashes of file contents that contain text from outside. */
export type OutsideContentRepository = ReturnType<typeof createOutsideContentRepository>

/** Both databases accept two parameters per hash for this many hashes. */
const HASHES_PER_QUERY = 400

/** Marks are never removed while the project exists, because a restore may bring content back. */
export function createOutsideContentRepository(database: Database) {
  const { outsideContents } = database.tables

  return {
    /** Marks contents; existing marks stay. */
    async add(projectId: ProjectId, hashes: readonly string[]): Promise<void> {
      const rows = [...new Set(hashes)].map((hash) => ({ projectId, hash }))
      if (rows.length === 0) return
      await database.write(async (tx) => {
        for (let index = 0; index < rows.length; index += HASHES_PER_QUERY)
          await tx
            .insert(outsideContents)
            .values(rows.slice(index, index + HASHES_PER_QUERY))
            .onConflictDoNothing()
      })
    },

    /** Marks in one project what is marked in another. */
    async copy(from: ProjectId, to: ProjectId): Promise<void> {
      const rows = await database.read
        .select({ hash: outsideContents.hash })
        .from(outsideContents)
        .where(eq(outsideContents.projectId, from))
      await this.add(
        to,
        rows.map(({ hash }) => hash),
      )
    },

    /** The given hashes that are marked. */
    async marked(projectId: ProjectId, hashes: readonly string[]): Promise<Set<string>> {
      const unique = [...new Set(hashes)]
      const found = new Set<string>()
      for (let index = 0; index < unique.length; index += HASHES_PER_QUERY) {
        const rows = await database.read
          .select({ hash: outsideContents.hash })
          .from(outsideContents)
          .where(
            and(
              eq(outsideContents.projectId, projectId),
              inArray(outsideContents.hash, unique.slice(index, index + HASHES_PER_QUERY)),
            ),
          )
        for (const { hash } of rows) found.add(hash)
      }
      return found
    },

    /** Whether any content of the project was ever marked. */
    async hasAny(projectId: ProjectId): Promise<boolean> {
      const rows = await database.read
        .select({ hash: outsideContents.hash })
        .from(outsideContents)
        .where(eq(outsideContents.projectId, projectId))
        .limit(1)
      return rows.length > 0
    },
  }
}
