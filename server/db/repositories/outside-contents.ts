// Hashes of file contents with text from outside, per project.
import { and, eq, inArray } from 'drizzle-orm'
import type { ProjectId } from '../../protocol/ids.ts'
import type { Database } from '../database.ts'

export type OutsideContentRepository = ReturnType<typeof createOutsideContentRepository>

/** Hashes in one statement; every database accepts that many parameters. */
const AT_ONCE = 400

/** Marks live as long as the project, because a restore may bring a content back. */
export function createOutsideContentRepository(database: Database) {
  const { outsideContents } = database.tables

  return {
    /** Marks contents; existing marks stay. */
    async add(projectId: ProjectId, hashes: readonly string[]): Promise<void> {
      const rows = [...new Set(hashes)].map((hash) => ({ projectId, hash }))
      if (rows.length === 0) return
      await database.write(async (tx) => {
        for (let at = 0; at < rows.length; at += AT_ONCE)
          await tx
            .insert(outsideContents)
            .values(rows.slice(at, at + AT_ONCE))
            .onConflictDoNothing()
      })
    },

    /** Those of the hashes that are marked. */
    async marked(projectId: ProjectId, hashes: readonly string[]): Promise<Set<string>> {
      const wanted = [...new Set(hashes)]
      const found = new Set<string>()
      for (let at = 0; at < wanted.length; at += AT_ONCE) {
        const rows = await database.read
          .select({ hash: outsideContents.hash })
          .from(outsideContents)
          .where(
            and(
              eq(outsideContents.projectId, projectId),
              inArray(outsideContents.hash, wanted.slice(at, at + AT_ONCE)),
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
