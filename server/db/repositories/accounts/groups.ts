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

/** What administrators set of a group. */
export interface GroupFields {
  name: string
  description: string
  permissions: GroupPermissions
  quota: PatchQuota | null
  sharedQuota: PatchSharedQuota | null
}

/** Part of a change of a group's members, which gets the names of both. */
type AfterMembership = (
  tx: Writer,
  names: { group: string | undefined; account: string | undefined },
) => Promise<void>

const NameCursor = z.tuple([z.string().max(200)])

/** Who is in a group. */
function createGroupMembers(database: Database) {
  return {
    ...followedGroups(database),
    ...membersOfGroups(database),
  }
}

/** Members as the identity provider names them. */
function followedGroups(database: Database) {
  const { write, tables } = database
  const { groups, groupMembers } = tables
  return {
    /**
     * Makes an account a member of exactly the `wanted` groups among the `managed` ones (names, ignoring case).
     * @returns the groups that it joined and left, and the names of the `managed` groups that do not exist.
     */
    follow: (
      userId: UserId,
      { managed, wanted }: { managed: readonly string[]; wanted: readonly string[] },
      after: (
        tx: Writer,
        change: 'group_member_added' | 'group_member_removed',
        group: string,
      ) => Promise<void>,
    ): Promise<{ added: GroupId[]; removed: GroupId[]; unknown: string[] }> =>
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
        for (const { name } of added) await after(tx, 'group_member_added', name)
        for (const { name } of removed) await after(tx, 'group_member_removed', name)
        return {
          added: added.map(({ id }) => id),
          removed: removed.map(({ id }) => id),
          unknown: managed.filter((name) => !keys.has(foldCase(name))),
        }
      }),
  }
}

/** Members as administrators add and remove them. */
function membersOfGroups(database: Database) {
  const { read, write, tables } = database
  const { groups, groupMembers, users } = tables

  async function namesOf(tx: Writer, id: GroupId, userId: UserId) {
    const [group] = await tx.select({ name: groups.name }).from(groups).where(eq(groups.id, id))
    const [user] = await tx.select({ name: users.username }).from(users).where(eq(users.id, userId))
    return { group: group?.name, account: user?.name }
  }

  return {
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

    /**
     * Adds an account; nothing changes when it is a member. `after` is part of the change.
     * @throws AppError `group_not_found`, `account_not_found`.
     */
    addMember: (id: GroupId, userId: UserId, after?: AfterMembership): Promise<void> =>
      write(async (tx) => {
        const names = await namesOf(tx, id, userId)
        if (names.group === undefined) throw appError('group_not_found')
        if (names.account === undefined) throw appError('account_not_found')
        await tx.insert(groupMembers).values({ groupId: id, userId }).onConflictDoNothing()
        await after?.(tx, names)
      }),

    /** Adds an account, in the transaction that creates it. */
    async join(tx: Writer, id: GroupId, userId: UserId): Promise<void> {
      await tx.insert(groupMembers).values({ groupId: id, userId })
    },

    /** False when the account is not a member. `after` is part of the change. */
    removeMember: (id: GroupId, userId: UserId, after?: AfterMembership): Promise<boolean> =>
      write(async (tx) => {
        const removed = await tx
          .delete(groupMembers)
          .where(and(eq(groupMembers.groupId, id), eq(groupMembers.userId, userId)))
          .returning({ id: groupMembers.groupId })
        if (removed.length === 0) return false
        await after?.(tx, await namesOf(tx, id, userId))
        return true
      }),
  }
}

/** Uses the tables `groups`, `groupMembers` and `users`. */
export function createGroupRepository(database: Database) {
  const { read, write, tables } = database
  const { groups, groupMembers } = tables
  const members = sql`${sql`(select ${countAll} from ${groupMembers} where ${groupMembers.groupId} = ${groups.id})`}`

  return {
    ...createGroupMembers(database),

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

    /**
     * `after` is part of the change.
     * @throws AppError `group_name_taken` for a name that is taken, ignoring case; `groups_exhausted`.
     */
    create: (fields: GroupFields, atMost: number, after?: (tx: Writer) => Promise<void>) =>
      create(database, fields, atMost, after),

    /**
     * Changes a group from its current state. False when there is no such group. `after` is part of the change.
     * @throws AppError `group_name_taken`.
     */
    change: (
      id: GroupId,
      change: (before: GroupFields) => GroupFields,
      after?: (tx: Writer, before: GroupFields, changed: GroupFields) => Promise<void>,
    ): Promise<boolean> =>
      unlessTaken(
        database,
        write(async (tx) => {
          await tx.lock('groups')
          const [row] = await tx.select().from(groups).where(eq(groups.id, id))
          if (row === undefined) return false
          const fields = change(row)
          await tx
            .update(groups)
            .set({ ...fields, nameKey: foldCase(fields.name) })
            .where(eq(groups.id, id))
          await after?.(tx, row, fields)
          return true
        }),
      ),

    /** False when there is no such group. `after` is part of the change. */
    remove: (id: GroupId, after?: (tx: Writer, name: string) => Promise<void>): Promise<boolean> =>
      write(async (tx) => {
        const [removed] = await tx
          .delete(groups)
          .where(eq(groups.id, id))
          .returning({ name: groups.name })
        if (removed === undefined) return false
        await after?.(tx, removed.name)
        return true
      }),
  }
}

function create(
  database: Database,
  fields: GroupFields,
  atMost: number,
  after?: (tx: Writer) => Promise<void>,
): Promise<CountedGroup> {
  const { write } = database
  const { groups } = database.tables
  return unlessTaken(
    database,
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
      await after?.(tx)
      return { ...row, members: 0 }
    }),
  )
}

async function unlessTaken<T>(database: Database, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw database.isUniqueViolation(error) ? appError('group_name_taken') : error
  }
}
