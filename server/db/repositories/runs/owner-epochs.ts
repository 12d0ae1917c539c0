// The epochs of the store: one per process that has owned it.
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Database } from '../../database.ts'

/** Stores the epoch of the process that owns the store. */
export type OwnerEpochs = ReturnType<typeof createOwnerEpochRepository>

const KEY = 'owner'
const Owner = z.object({ epoch: z.int().min(0), instance: z.string() })

/** Uses the table `settings`. */
export function createOwnerEpochRepository({ read, write, tables: { settings } }: Database) {
  const epochOf = (rows: readonly { value: unknown }[]): number =>
    Owner.safeParse(rows[0]?.value).data?.epoch ?? 0
  return {
    /** Records `instance` as the owner. Returns its epoch, which is greater than every earlier one. */
    next: (instance: string): Promise<number> =>
      write(async (tx) => {
        await tx.lock('owner')
        const epoch = epochOf(await tx.select().from(settings).where(eq(settings.key, KEY))) + 1
        const value = { epoch, instance }
        await tx
          .insert(settings)
          .values({ key: KEY, value })
          .onConflictDoUpdate({ target: settings.key, set: { value } })
        return epoch
      }),

    /** The epoch of the newest owner; 0 when there never was one. */
    current: async (): Promise<number> =>
      epochOf(await read.select().from(settings).where(eq(settings.key, KEY))),
  }
}
