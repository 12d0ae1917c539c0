// Identities of accounts at single sign-on issuers, and the ID tokens of sessions that began there.
import { and, eq } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import type { UserRow } from './users.ts'

/** The identity of an account at an OpenID Connect issuer. */
export interface NewIdentity {
  issuer: string
  /** The issuer's name for the person, which never changes. */
  subject: string
  userId: UserId
}

/** Stores which account belongs to an identity at an issuer. Uses the tables `identities`, `idTokens` and `users`, and those of everything else by which an account can be reached. */
export function createIdentityRepository({ read, write, tables }: Database) {
  const { identities, idTokens, users } = tables
  const { totps, recoveryCodes, passkeys, confirmedAddresses, accountLinks, pushSubscriptions } =
    tables
  const waysIn = [
    identities,
    totps,
    recoveryCodes,
    passkeys,
    confirmedAddresses,
    accountLinks,
    pushSubscriptions,
  ]

  const add = async (tx: Writer, identity: NewIdentity, createdAt: Date): Promise<void> => {
    await tx.insert(identities).values({ ...identity, createdAt })
  }

  return {
    /** The account of a person at an issuer. */
    async find(issuer: string, subject: string): Promise<UserRow | undefined> {
      const [found] = await read
        .select({ user: users })
        .from(identities)
        .innerJoin(users, eq(users.id, identities.userId))
        .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
      return found?.user
    },

    /** Links an identity in the transaction that creates the account. */
    add,

    /**
     * Makes an identity the only way into an existing account, in the transaction that ends its password, sessions and keys:
     * removes other identities, second factors, confirmed addresses, open links and push subscriptions. Whoever had set them
     * up may be somebody else.
     */
    async replaceAll(tx: Writer, identity: NewIdentity, time: Date): Promise<void> {
      for (const table of waysIn) await tx.delete(table).where(eq(table.userId, identity.userId))
      await add(tx, identity, time)
    },

    saveIdToken: (sessionId: string, sealed: string): Promise<void> =>
      write(async (tx) => {
        await tx.insert(idTokens).values({ sessionId, sealed })
      }),

    async findIdToken(sessionId: string): Promise<string | undefined> {
      const [row] = await read.select().from(idTokens).where(eq(idTokens.sessionId, sessionId))
      return row?.sealed
    },
  }
}
