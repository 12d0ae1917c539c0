// Email addresses whose owners agreed to receive mail of a user.
import { and, eq, inArray } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { foldCase } from '../../fragments.ts'
import type { UserRow } from './users.ts'

/** Stores the email addresses that users have confirmed. */
export type ConfirmedAddressRepository = ReturnType<typeof createConfirmedAddressRepository>

/** Uses the tables `confirmedAddresses` and `users`. */
export function createConfirmedAddressRepository({ read, tables }: Database) {
  const { confirmedAddresses, users } = tables
  return {
    /** The given addresses that are not confirmed for the user, ignoring case. */
    async unconfirmed(userId: UserId, addresses: readonly string[]): Promise<string[]> {
      if (addresses.length === 0) return []
      const rows = await read
        .select({ address: confirmedAddresses.address })
        .from(confirmedAddresses)
        .where(
          and(
            eq(confirmedAddresses.userId, userId),
            inArray(confirmedAddresses.address, addresses.map(foldCase)),
          ),
        )
      const known = new Set(rows.map(({ address }) => address))
      return addresses.filter((address) => !known.has(foldCase(address)))
    },

    async add(tx: Writer, userId: UserId, address: string, confirmedAt: Date): Promise<void> {
      await tx
        .insert(confirmedAddresses)
        .values({ userId, address: foldCase(address), confirmedAt })
        .onConflictDoNothing()
    },

    /** The account with this email address, if its owner has confirmed it. */
    async findAccount(email: string, from: Reader = read): Promise<UserRow | undefined> {
      const [row] = await from
        .select({ user: users })
        .from(users)
        .innerJoin(
          confirmedAddresses,
          and(
            eq(confirmedAddresses.userId, users.id),
            eq(confirmedAddresses.address, users.emailKey),
          ),
        )
        .where(eq(users.emailKey, foldCase(email)))
      return row?.user
    },
  }
}
