// The audit log: entries are added and eventually removed, but never changed.
import { and, desc, eq, gte, lt, lte } from 'drizzle-orm'
import { newId } from '../../../lib/ids.ts'
import type { Actor, AuditAction } from '../../../protocol/admin/audit.ts'
import type { Page } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'

/** A row of `audit_entries`. */
export type AuditRow = Database['tables']['auditEntries']['$inferSelect']

/** Filters of the list; an undefined field does not filter. */
export interface AuditSelection {
  action?: AuditAction | undefined
  userId?: UserId | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** Backups that may be incomplete one after the other before the complete one is no longer looked for. */
const BACKUPS_LOOKED_AT = 100

/** Stores the audit log. */
export type AuditRepository = ReturnType<typeof createAuditRepository>

/** Uses the tables `auditEntries` and `users`. */
export function createAuditRepository(database: Database) {
  const { read, tables } = database
  const { auditEntries, users } = tables
  const nameOf = async (tx: Writer, id: UserId | null): Promise<string | null> => {
    if (id === null) return null
    const [user] = await tx.select({ name: users.username }).from(users).where(eq(users.id, id))
    return user?.name ?? null
  }

  return {
    add: (entry: Omit<AuditRow, 'id'>): Promise<void> =>
      database.write(async (tx) => {
        await tx.insert(auditEntries).values({ ...entry, id: newId() })
      }),

    /**
     * Adds the entry of an act in the transaction of the act: either both are stored, or neither. A run acts for its user
     * without a request, from which the name would be known.
     */
    async record(
      tx: Writer,
      { userId, username, address, details: door }: Actor,
      { action, at, details }: Pick<AuditRow, 'action' | 'at' | 'details'>,
    ): Promise<void> {
      await tx.insert(auditEntries).values({
        id: newId(),
        at,
        action,
        userId,
        username: username ?? (await nameOf(tx, userId)),
        address,
        details: { ...details, ...door },
      })
    },

    /** Newest first. */
    async list(
      { action, userId, from, to }: AuditSelection,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<AuditRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select()
        .from(auditEntries)
        .where(
          and(
            action && eq(auditEntries.action, action),
            userId && eq(auditEntries.userId, userId),
            from && gte(auditEntries.at, from),
            to && lte(auditEntries.at, to),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(auditEntries.at, auditEntries.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(auditEntries.at), desc(auditEntries.id))
        .limit(limit + 1)
      return toPage(rows, limit, (row) => [row.at.getTime(), row.id])
    },

    /** When the newest complete backup was made; null if the log knows none, or only incomplete ones for long. */
    async lastBackup(): Promise<Date | null> {
      const rows = await read
        .select({ at: auditEntries.at, details: auditEntries.details })
        .from(auditEntries)
        .where(eq(auditEntries.action, 'backup_created'))
        .orderBy(desc(auditEntries.at), desc(auditEntries.id))
        .limit(BACKUPS_LOOKED_AT)
      return rows.find(({ details }) => details.complete !== false)?.at ?? null
    },

    /** Removes entries older than a time. */
    removeBefore: (time: Date): Promise<void> =>
      database.write(async (tx) => {
        await tx.delete(auditEntries).where(lt(auditEntries.at, time))
      }),
  }
}
