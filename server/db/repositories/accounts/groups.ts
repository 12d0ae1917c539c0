// Groups of accounts and their members.
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { appError } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { PatchQuota, PatchSharedQuota } from '../../../protocol/accounts/quota.ts'
import type { GroupId, GroupPermissions } from '../../../protocol/admin/group.ts'
import type { Page } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { countAll, foldCase } from '../../fragments.ts'
import type { UserRow } from './users.ts'

/** A row of `groups`. */
export type GroupRow = Database['tables']['groups']['$inferSelect']
/** A group and how many accounts are in it. */
export type CountedGroup = GroupRow & { members: number }

/** Stores groups and their members. */
export type GroupRepository = ReturnType<typeof createGroupRepository>

interface GroupFields {
  name: string
  description: string
  permissions: GroupPermissions
  quota: PatchQuota | null
  sharedQuota: PatchSharedQuota | null
}

const NameCursor = z.tuple([z.string().max(200)])

/** Uses the tables `groups`, `groupMembers` and `users`. */
export function createGroupRepository(database: Database) {
  const { read, write, tables } = database
  const { groups, groupMembers, users } = tables
  const members = sql`${sql`(select ${countAll} from ${groupMembers} where ${groupMembers.groupId} = ${groups.id})`}`

  const unlessTaken = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw database.isUniqueViolation(error) ? appError('group_name_taken') : error
    }
  }

  return {
    /** All groups and their members, which determine what users may use. */
    async all(): Promise<{ groups: GroupRow[]; members: { groupId: GroupId; userId: UserId }[] }> {
      return {
        groups: await read.select().from(groups),
        members: await read.select().from(groupMembers),
      }
    },

    /** By name. */
    async list({
      limit,
      cursor,
    }: {
      limit: number
      cursor?: string | undefined
    }): Promise<Page<CountedGroup>> {
      const [after] = cursor === undefined ? [] : decodeCursor(NameCursor, cursor)
      const rows = await read
        .select({ group: groups, members: members.mapWith(Number) })
        .from(groups)
        .where(after === undefined ? undefined : gt(groups.nameKey, after))
        .orderBy(asc(groups.nameKey))
        .limit(limit + 1)
      const counted = rows.map(({ group, members: count }) => ({ ...group, members: count }))
      return toPage(counted, limit, (row) => [row.nameKey])
    },

    async find(id: GroupId): Promise<CountedGroup | undefined> {
      const [row] = await read
        .select({ group: groups, members: members.mapWith(Number) })
        .from(groups)
        .where(eq(groups.id, id))
      return row === undefined ? undefined : { ...row.group, members: row.members }
    },

    /** @throws AppError `group_name_taken` for a name that is taken, ignoring case; `groups_exhausted`. */
    create: (fields: GroupFields, atMost: number): Promise<CountedGroup> =>
      unlessTaken(
        write(async (tx) => {
          await tx.lock('groups')
          const [known] = await tx.select({ count: countAll }).from(groups)
          if ((known?.count ?? 0) >= atMost) throw appError('groups_exhausted', { limit: atMost })
          const row: GroupRow = {
            ...fields,
            id: newId<GroupId>(),
            nameKey: foldCase(fields.name),
            createdAt: new Date(),
          }
          await tx.insert(groups).values(row)
          return { ...row, members: 0 }
        }),
      ),

    /** Changes a group from its current state. False when there is no such group. @throws AppError `group_name_taken`. */
    change: (id: GroupId, change: (before: GroupFields) => GroupFields): Promise<boolean> =>
      unlessTaken(
        write(async (tx) => {
          await tx.lock('groups')
          const [row] = await tx.select().from(groups).where(eq(groups.id, id))
          if (row === undefined) return false
          const fields = change(row)
          await tx
            .update(groups)
            .set({ ...fields, nameKey: foldCase(fields.name) })
            .where(eq(groups.id, id))
          return true
        }),
      ),

    /** False when there is no such group. */
    async remove(id: GroupId): Promise<boolean> {
      const removed = await write((tx) =>
        tx.delete(groups).where(eq(groups.id, id)).returning({ id: groups.id }),
      )
      return removed.length > 0
    },

    /** The accounts in a group, by name. */
    async listMembers(
      id: GroupId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<UserRow>> {
      const [after] = cursor === undefined ? [] : decodeCursor(NameCursor, cursor)
      const rows = await read
        .select({ user: users })
        .from(groupMembers)
        .innerJoin(users, eq(users.id, groupMembers.userId))
        .where(
          and(
            eq(groupMembers.groupId, id),
            after === undefined ? undefined : gt(users.usernameKey, after),
          ),
        )
        .orderBy(asc(users.usernameKey))
        .limit(limit + 1)
      return toPage(
        rows.map(({ user }) => user),
        limit,
        (user) => [user.usernameKey],
      )
    },

    /** Adds an account; nothing changes when it is a member. @throws AppError `group_not_found`, `account_not_found`. */
    addMember: (id: GroupId, userId: UserId): Promise<void> =>
      write(async (tx) => {
        const [group] = await tx.select({ id: groups.id }).from(groups).where(eq(groups.id, id))
        if (group === undefined) throw appError('group_not_found')
        const [user] = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId))
        if (user === undefined) throw appError('account_not_found')
        await tx.insert(groupMembers).values({ groupId: id, userId }).onConflictDoNothing()
      }),

    /** Adds an account, in the transaction that creates it. */
    async join(tx: Writer, id: GroupId, userId: UserId): Promise<void> {
      await tx.insert(groupMembers).values({ groupId: id, userId })
    },

    /**
     * Makes an account a member of exactly the `wanted` groups among the `managed` ones (names, ignoring case).
     * @returns the names of the groups that it joined and left, and of the `managed` groups that do not exist.
     */
    follow: (
      userId: UserId,
      { managed, wanted }: { managed: readonly string[]; wanted: readonly string[] },
    ): Promise<{ added: string[]; removed: string[]; unknown: string[] }> =>
      write(async (tx) => {
        const known = await tx
          .select({ id: groups.id, name: groups.name, key: groups.nameKey })
          .from(groups)
          .where(inArray(groups.nameKey, managed.map(foldCase)))
        const own = await tx
          .select({ id: groupMembers.groupId })
          .from(groupMembers)
          .where(eq(groupMembers.userId, userId))
        const keys = new Set(known.map(({ key }) => key))
        const wantedKeys = new Set(wanted.map(foldCase))
        const ownIds = new Set(own.map(({ id }) => id))
        const added = known.filter(({ id, key }) => wantedKeys.has(key) && !ownIds.has(id))
        const removed = known.filter(({ id, key }) => !wantedKeys.has(key) && ownIds.has(id))
        if (added.length > 0)
          await tx
            .insert(groupMembers)
            .values(added.map(({ id }) => ({ groupId: id, userId })))
            .onConflictDoNothing()
        if (removed.length > 0)
          await tx.delete(groupMembers).where(
            and(
              eq(groupMembers.userId, userId),
              inArray(
                groupMembers.groupId,
                removed.map(({ id }) => id),
              ),
            ),
          )
        return {
          added: added.map(({ name }) => name),
          removed: removed.map(({ name }) => name),
          unknown: managed.filter((name) => !keys.has(foldCase(name))),
        }
      }),

    /** False when the account is not a member. */
    async removeMember(id: GroupId, userId: UserId): Promise<boolean> {
      const removed = await write((tx) =>
        tx
          .delete(groupMembers)
          .where(and(eq(groupMembers.groupId, id), eq(groupMembers.userId, userId)))
          .returning({ id: groupMembers.groupId }),
      )
      return removed.length > 0
    },
  }
}
