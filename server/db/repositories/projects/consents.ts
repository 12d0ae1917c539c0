// What users have accepted and refused of what others have written for models, by hash.
import { and, desc, eq, inArray, isNotNull, lte, ne, type SQL } from 'drizzle-orm'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { countAll } from '../../fragments.ts'

/** A decision of a user about a hash. */
export type ConsentRow = Database['tables']['consents']['$inferSelect']

/** Both databases accept the parameters of this many hashes. */
const HASHES_PER_QUERY = 400

/** Decisions of a user that are stored, and accepted versions whose contents are: the newest ones. */
const MAX_DECISIONS = 10_000
const MAX_CONTENTS = 300
/** Decisions beyond it after which the oldest are removed. */
const SURPLUS = 500

/**
 * Stores consent (table `consents`). A decision stays until the user decides otherwise about the same hash, or has decided
 * about `MAX_DECISIONS` others since.
 */
export function createConsentRepository(database: Database) {
  const accepted = acceptedRows(database)
  return {
    ...readConsents(database, accepted),
    ...writeConsents(database, accepted),
  }
}

/** Which rows say that a user has accepted versions of a file or folder of a project. */
const acceptedRows =
  ({ tables: { consents } }: Database) =>
  (userId: UserId, projectId: ProjectId, path: string) =>
    and(
      eq(consents.userId, userId),
      eq(consents.projectId, projectId),
      eq(consents.path, path),
      eq(consents.decision, 'accept'),
      ne(consents.what, 'file'),
    )

type AcceptedRows = ReturnType<typeof acceptedRows>

/** What was decided, and what was last accepted. */
function readConsents(database: Database, accepted: AcceptedRows) {
  const { read, tables } = database
  const { consents } = tables
  return {
    /** The decisions of a user about these hashes. */
    async decisions(
      userId: UserId,
      what: ConsentRow['what'],
      hashes: readonly string[],
    ): Promise<Map<string, ConsentRow['decision']>> {
      const unique = [...new Set(hashes)]
      const found = new Map<string, ConsentRow['decision']>()
      for (let at = 0; at < unique.length; at += HASHES_PER_QUERY) {
        const rows = await read
          .select({ sha256: consents.sha256, decision: consents.decision })
          .from(consents)
          .where(
            and(
              eq(consents.userId, userId),
              eq(consents.what, what),
              inArray(consents.sha256, unique.slice(at, at + HASHES_PER_QUERY)),
            ),
          )
        for (const { sha256, decision } of rows) found.set(sha256, decision)
      }
      return found
    },

    /** The version of a skill or file of a project that the user has accepted last. */
    async lastAccepted(
      userId: UserId,
      projectId: ProjectId,
      path: string,
    ): Promise<Pick<ConsentRow, 'sha256' | 'files'> | undefined> {
      const [row] = await read
        .select({ sha256: consents.sha256, files: consents.files })
        .from(consents)
        .where(accepted(userId, projectId, path))
        .orderBy(desc(consents.decidedAt))
        .limit(1)
      return row
    },

    /** The hash of that version. */
    async lastAcceptedHash(
      userId: UserId,
      projectId: ProjectId,
      path: string,
    ): Promise<string | undefined> {
      const [row] = await read
        .select({ sha256: consents.sha256 })
        .from(consents)
        .where(accepted(userId, projectId, path))
        .orderBy(desc(consents.decidedAt))
        .limit(1)
      return row?.sha256
    },
  }
}

/** Decisions. */
function writeConsents(database: Database, accepted: AcceptedRows) {
  const { tables } = database
  const { consents } = tables

  /** Removes the oldest decisions, and the contents of the oldest versions, beyond what is stored of a user. */
  async function limit(tx: Writer, userId: UserId): Promise<void> {
    const own = eq(consents.userId, userId)
    const withContents = and(own, isNotNull(consents.files))
    const nth = async (which: SQL | undefined, skipped: number): Promise<Date | undefined> => {
      const [row] = await tx
        .select({ at: consents.decidedAt })
        .from(consents)
        .where(which)
        .orderBy(desc(consents.decidedAt))
        .limit(1)
        .offset(skipped)
      return row?.at
    }
    const lastContent = await nth(withContents, MAX_CONTENTS)
    if (lastContent !== undefined)
      await tx
        .update(consents)
        .set({ files: null })
        .where(and(withContents, lte(consents.decidedAt, lastContent)))
    const [all] = await tx.select({ count: countAll }).from(consents).where(own)
    if ((all?.count ?? 0) <= MAX_DECISIONS + SURPLUS) return
    const last = await nth(own, MAX_DECISIONS)
    if (last !== undefined) await tx.delete(consents).where(and(own, lte(consents.decidedAt, last)))
  }

  return {
    /**
     * Stores decisions; each replaces an earlier one about the same hash. The contents of versions that were accepted before
     * at the same place are no longer kept: the next one is compared with the newest.
     */
    decide: (rows: readonly ConsentRow[]): Promise<void> =>
      database.write(async (tx) => {
        for (const { userId, what, sha256, ...decided } of rows) {
          if (decided.files !== null)
            await tx
              .update(consents)
              .set({ files: null })
              .where(
                and(accepted(userId, decided.projectId, decided.path), isNotNull(consents.files)),
              )
          await tx
            .insert(consents)
            .values({ userId, what, sha256, ...decided })
            .onConflictDoUpdate({
              target: [consents.userId, consents.what, consents.sha256],
              set: decided,
            })
        }
        for (const userId of new Set(rows.map((row) => row.userId))) await limit(tx, userId)
      }),
  }
}
