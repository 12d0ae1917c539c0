// Second factors of accounts: authenticator apps, recovery codes, passkeys.
import { and, asc, eq, isNotNull, isNull, lt } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { countAll } from '../../fragments.ts'
import type { UserRow } from './users.ts'

/** A row of `passkeys`. */
export type PasskeyRow = Database['tables']['passkeys']['$inferSelect']
/** A row of `totps`: the one authenticator app of a user. */
export type TotpRow = Database['tables']['totps']['$inferSelect']

/** Stores passkeys, authenticator apps and recovery codes. */
export type SecondFactorRepository = ReturnType<typeof createSecondFactorRepository>

/** Uses the tables `totps`, `recoveryCodes`, `passkeys` and `users`. */
export function createSecondFactorRepository(database: Database) {
  return {
    ...passkeysOfUsers(database),
    ...codesOfUsers(database),
  }
}

/** Passkeys. */
function passkeysOfUsers(database: Database) {
  const { read, write, tables } = database
  const { passkeys, users } = tables

  const passkeysOf = (userId: UserId): Promise<PasskeyRow[]> =>
    read.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.createdAt))

  return {
    passkeysOf,

    /** False when the user has `atMost` passkeys already. `after` is part of it. */
    addPasskey: (passkey: PasskeyRow, atMost: number, after: (tx: Writer) => Promise<void>) =>
      addPasskey(database, passkey, atMost, after),

    async findPasskey(id: string): Promise<{ passkey: PasskeyRow; user: UserRow } | undefined> {
      const [found] = await read
        .select({ passkey: passkeys, user: users })
        .from(passkeys)
        .innerJoin(users, eq(users.id, passkeys.userId))
        .where(eq(passkeys.id, id))
      return found
    },

    async touchPasskey(id: string, counter: number, lastUsedAt: Date): Promise<void> {
      await write((tx) =>
        tx.update(passkeys).set({ counter, lastUsedAt }).where(eq(passkeys.id, id)),
      )
    },

    /** False when the user has no such passkey. `after` is part of the removal. */
    removePasskey: (
      userId: UserId,
      id: string,
      after: (tx: Writer, removed: PasskeyRow) => Promise<void>,
    ) => removePasskey(database, userId, id, after),
  }
}

/** Codes of an authenticator, recovery codes, and the end of all factors. */
function codesOfUsers(database: Database) {
  const { read, write, tables } = database
  const { totps, recoveryCodes, passkeys } = tables
  return {
    async totp(userId: UserId): Promise<TotpRow | undefined> {
      const [row] = await read.select().from(totps).where(eq(totps.userId, userId))
      return row
    },

    async recoveryCodesLeft(userId: UserId): Promise<number> {
      const [row] = await read
        .select({ count: countAll })
        .from(recoveryCodes)
        .where(eq(recoveryCodes.userId, userId))
      return row?.count ?? 0
    },

    /** Stores a secret that waits for its first code. False when one is confirmed already. */
    beginTotp: (userId: UserId, sealedSecret: string): Promise<boolean> =>
      write(async (tx) => {
        await tx.lock(`second factor ${userId}`)
        const [row] = await tx.select().from(totps).where(eq(totps.userId, userId))
        if (row !== undefined && row.confirmedAt !== null) return false
        await tx.delete(totps).where(eq(totps.userId, userId))
        await tx.insert(totps).values({ userId, sealedSecret, confirmedAt: null, lastStep: 0 })
        return true
      }),

    /** Accepts the code of one time step. False when a code of this step or a later one was used. */
    consumeStep: (userId: UserId, step: number) => consumeStep(database, userId, step),

    /**
     * Accepts the first code of an authenticator app that waits for it. False when none waits, or a later code was used.
     * `after` is part of it.
     */
    confirmTotp: (
      userId: UserId,
      code: { step: number; at: Date },
      after: (tx: Writer) => Promise<void>,
    ) => confirmTotp(database, userId, code, after),

    /** Removes the authenticator app. False when there is none. `after` is part of the removal. */
    removeTotp: (userId: UserId, after: (tx: Writer) => Promise<void>) =>
      removeTotp(database, userId, after),

    /** `after` is part of it. */
    replaceRecoveryCodes: (
      userId: UserId,
      hashes: readonly string[],
      after?: (tx: Writer) => Promise<void>,
    ) => replaceRecoveryCodes(database, userId, hashes, after),

    /** Removes a recovery code. False when the user has no such code. */
    async consumeRecoveryCode(userId: UserId, hash: string): Promise<boolean> {
      const used = await write((tx) =>
        tx
          .delete(recoveryCodes)
          .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hash)))
          .returning({ hash: recoveryCodes.hash }),
      )
      return used.length > 0
    },

    /** Removes all second factors of a user. @param after runs in the same transaction. */
    reset: (userId: UserId, after: (tx: Writer) => Promise<void>): Promise<void> =>
      write(async (tx) => {
        for (const table of [totps, recoveryCodes, passkeys])
          await tx.delete(table).where(eq(table.userId, userId))
        await after(tx)
      }),
  }
}

function addPasskey(
  database: Database,
  passkey: PasskeyRow,
  atMost: number,
  after: (tx: Writer) => Promise<void>,
): Promise<boolean> {
  const { write } = database
  const { passkeys } = database.tables
  return write(async (tx) => {
    await tx.lock(`second factor ${passkey.userId}`)
    const [present] = await tx
      .select({ count: countAll })
      .from(passkeys)
      .where(eq(passkeys.userId, passkey.userId))
    if ((present?.count ?? 0) >= atMost) return false
    await tx.insert(passkeys).values(passkey)
    await after(tx)
    return true
  })
}

function removePasskey(
  database: Database,
  userId: UserId,
  id: string,
  after: (tx: Writer, removed: PasskeyRow) => Promise<void>,
): Promise<boolean> {
  const { write } = database
  const { passkeys } = database.tables
  return write(async (tx) => {
    await tx.lock(`second factor ${userId}`)
    const [removed] = await tx
      .delete(passkeys)
      .where(and(eq(passkeys.userId, userId), eq(passkeys.id, id)))
      .returning()
    await removeUnneededCodes(database, tx, userId)
    if (removed === undefined) return false
    await after(tx, removed)
    return true
  })
}

/** Removes the recovery codes of a user without a second factor: nothing is left that they could replace. */
async function removeUnneededCodes(database: Database, tx: Writer, userId: UserId): Promise<void> {
  const { totps, passkeys, recoveryCodes } = database.tables
  const [totp] = await tx
    .select({ userId: totps.userId })
    .from(totps)
    .where(and(eq(totps.userId, userId), isNotNull(totps.confirmedAt)))
  const [passkey] = await tx
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .limit(1)
  if (totp === undefined && passkey === undefined)
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
}

function confirmTotp(
  database: Database,
  userId: UserId,
  { step, at }: { step: number; at: Date },
  after: (tx: Writer) => Promise<void>,
): Promise<boolean> {
  const { write } = database
  const { totps } = database.tables
  return write(async (tx) => {
    const confirmed = await tx
      .update(totps)
      .set({ lastStep: step, confirmedAt: at })
      .where(and(eq(totps.userId, userId), isNull(totps.confirmedAt), lt(totps.lastStep, step)))
      .returning({ userId: totps.userId })
    if (confirmed.length === 0) return false
    await after(tx)
    return true
  })
}

function removeTotp(
  database: Database,
  userId: UserId,
  after: (tx: Writer) => Promise<void>,
): Promise<boolean> {
  const { write } = database
  const { totps } = database.tables
  return write(async (tx) => {
    await tx.lock(`second factor ${userId}`)
    const removed = await tx
      .delete(totps)
      .where(eq(totps.userId, userId))
      .returning({ userId: totps.userId })
    await removeUnneededCodes(database, tx, userId)
    if (removed.length === 0) return false
    await after(tx)
    return true
  })
}

function replaceRecoveryCodes(
  database: Database,
  userId: UserId,
  hashes: readonly string[],
  after?: (tx: Writer) => Promise<void>,
): Promise<void> {
  const { write } = database
  const { recoveryCodes } = database.tables
  return write(async (tx) => {
    await tx.lock(`second factor ${userId}`)
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
    await tx.insert(recoveryCodes).values(hashes.map((hash) => ({ userId, hash })))
    await after?.(tx)
  })
}

async function consumeStep(database: Database, userId: UserId, step: number): Promise<boolean> {
  const { write } = database
  const { totps } = database.tables
  const used = await write((tx) =>
    tx
      .update(totps)
      .set({ lastStep: step })
      .where(and(eq(totps.userId, userId), lt(totps.lastStep, step)))
      .returning({ userId: totps.userId }),
  )
  return used.length > 0
}
