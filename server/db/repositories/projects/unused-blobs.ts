// Blobs that nothing refers to: since when the garbage collection knows that.
import { inArray } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** Stores since when blobs are unused. */
export type UnusedBlobRepository = ReturnType<typeof createUnusedBlobRepository>

/** Uses the table `unused_blobs`. */
export function createUnusedBlobRepository(database: Database) {
  const { unusedBlobs } = database.tables
  return {
    /** When each of the given blobs was first seen unused; without those that were not. */
    async seen(hashes: readonly string[]): Promise<Map<string, Date>> {
      if (hashes.length === 0) return new Map()
      const rows = await database.read
        .select()
        .from(unusedBlobs)
        .where(inArray(unusedBlobs.sha256, [...hashes]))
      return new Map(rows.map(({ sha256, seenAt }) => [sha256, seenAt]))
    },

    /** Marks blobs as unused from `seenAt` on, and forgets the marks of others. */
    async change(unused: readonly string[], used: readonly string[], seenAt: Date): Promise<void> {
      if (unused.length + used.length === 0) return
      await database.write(async (tx) => {
        const changed = [...unused, ...used]
        await tx.delete(unusedBlobs).where(inArray(unusedBlobs.sha256, changed))
        if (unused.length > 0)
          await tx.insert(unusedBlobs).values(unused.map((sha256) => ({ sha256, seenAt })))
      })
    },

    /** Forgets all marks. @returns how many there were. */
    clear: (): Promise<number> =>
      database.write(async (tx) => {
        const rows = await tx.delete(unusedBlobs).returning({ sha256: unusedBlobs.sha256 })
        return rows.length
      }),
  }
}
