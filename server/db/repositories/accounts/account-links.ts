// Links that an administrator hands to a person: invitations, and links to choose a new password.
import { and, desc, eq, getTableColumns, gt, isNull, lt, or } from 'drizzle-orm'
import { newId } from '../../../lib/ids.ts'
import type { GroupId } from '../../../protocol/admin/group.ts'
import type { Page } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { afterMoment, countAll } from '../../fragments.ts'

/** A row of `account_links`: an invitation, or a link to reset a password or confirm an address. */
export type AccountLinkRow = Database['tables']['accountLinks']['$inferSelect']

/** An invitation with the group that its account joins. */
export type InvitationRow = AccountLinkRow & { group: { id: GroupId; name: string } | null }

/** Stores the one-time links of accounts. */
export type AccountLinkRepository = ReturnType<typeof createAccountLinkRepository>

/** How long a used or expired link stays in the list. */
const KEPT_MS = 30 * 24 * 60 * 60_000

/** Uses the tables `accountLinks`, `groups` and `users`. */
export function createAccountLinkRepository(database: Database) {
  const { read, write, tables } = database
  const { accountLinks, groups, users } = tables

  return {
    /**
     * Stores a link and removes links that ended long ago. A reset link replaces the earlier ones of the same account, unless it
     * `keepsEarlier`.
     * @param options.after runs in the same transaction once the link is stored.
     * @returns null when `atMost` invitations can still be used.
     */
    insert: (
      link: Pick<
        AccountLinkRow,
        | 'kind'
        | 'hash'
        | 'role'
        | 'quota'
        | 'groupId'
        | 'note'
        | 'userId'
        | 'createdBy'
        | 'expiresAt'
      >,
      options: {
        now: Date
        atMost: number
        keepsEarlier?: boolean
        after?(tx: Writer): Promise<void>
      },
    ) => insert(database, link, options),

    /** The link with this hash, if it can still be used and its creator is still an administrator. */
    async findUsable(
      hash: string,
      now: Date,
      from: Reader = read,
    ): Promise<AccountLinkRow | undefined> {
      const [row] = await from
        .select(getTableColumns(accountLinks))
        .from(accountLinks)
        .leftJoin(users, eq(users.id, accountLinks.createdBy))
        .where(
          and(
            eq(accountLinks.hash, hash),
            usable(database, now),
            or(
              isNull(accountLinks.createdBy),
              and(eq(users.role, 'admin'), eq(users.isActive, true)),
            ),
          ),
        )
      return row
    },

    /** Marks a link as used by an account, in the transaction that acts on it. */
    async use(tx: Writer, id: string, userId: UserId, now: Date): Promise<void> {
      await tx.update(accountLinks).set({ usedAt: now, userId }).where(eq(accountLinks.id, id))
    },

    /** All invitations, newest first. */
    async listInvitations({
      limit,
      cursor,
    }: {
      limit: number
      cursor?: string | undefined
    }): Promise<Page<InvitationRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select({ link: accountLinks, group: { id: groups.id, name: groups.name } })
        .from(accountLinks)
        .leftJoin(groups, eq(groups.id, accountLinks.groupId))
        .where(
          and(
            eq(accountLinks.kind, 'invitation'),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(accountLinks.createdAt, accountLinks.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(accountLinks.createdAt), desc(accountLinks.id))
        .limit(limit + 1)
      const invitations = rows.map(({ link, group }) => ({ ...link, group }))
      return toPage(invitations, limit, (row) => [row.createdAt.getTime(), row.id])
    },

    /** False when there is no such invitation. */
    removeInvitation: (id: string, after: (tx: Writer) => Promise<void>): Promise<boolean> =>
      write(async (tx) => {
        const removed = await tx
          .delete(accountLinks)
          .where(and(eq(accountLinks.id, id), eq(accountLinks.kind, 'invitation')))
          .returning({ id: accountLinks.id })
        if (removed.length === 0) return false
        await after(tx)
        return true
      }),
  }
}

function insert(
  database: Database,
  link: Pick<
    AccountLinkRow,
    'kind' | 'hash' | 'role' | 'quota' | 'groupId' | 'note' | 'userId' | 'createdBy' | 'expiresAt'
  >,
  options: {
    now: Date
    atMost: number
    keepsEarlier?: boolean
    after?(tx: Writer): Promise<void>
  },
): Promise<AccountLinkRow | null> {
  const { write } = database
  const { accountLinks } = database.tables
  return write(async (tx) => {
    const { now, atMost, keepsEarlier = false, after } = options
    await tx.lock('users')
    const longAgo = new Date(now.getTime() - KEPT_MS)
    await tx
      .delete(accountLinks)
      .where(or(lt(accountLinks.usedAt, longAgo), lt(accountLinks.expiresAt, longAgo)))
    const { kind, userId } = link
    if (kind === 'reset' && userId !== null && !keepsEarlier)
      await tx
        .delete(accountLinks)
        .where(and(eq(accountLinks.kind, kind), eq(accountLinks.userId, userId)))
    const [open] = await tx
      .select({ count: countAll })
      .from(accountLinks)
      .where(and(eq(accountLinks.kind, kind), usable(database, now)))
    if ((open?.count ?? 0) >= atMost) return null
    const row: AccountLinkRow = { ...link, id: newId(), createdAt: now, usedAt: null }
    await tx.insert(accountLinks).values(row)
    await after?.(tx)
    return row
  })
}

function usable(database: Database, now: Date) {
  const { accountLinks } = database.tables
  return and(isNull(accountLinks.usedAt), gt(accountLinks.expiresAt, now))
}
