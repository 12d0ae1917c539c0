// The usage of all accounts in a range of days, summed by account or by group.
import {
  type AnyColumn,
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  lte,
  ne,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { z } from 'zod'
import type { Page } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, toPage } from '../../cursor.ts'
import type { Database } from '../../database.ts'
import type { DayRange } from './token-usage.ts'

/** Tokens, and cost by currency. */
export interface UsageSums {
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  cost: Map<string, number>
}

/** The usage of an account or a group; `id` and `name` are null for the accounts without a group. */
export type UsageOf = UsageSums & { id: string | null; name: string | null }

/** A position in a list ordered by tokens, then by id. */
const TokensCursor = z.tuple([z.int().min(0), z.string().min(1).max(64)])

/**
 * Reports usage to administrators.
 * Uses the tables `tokenUsage`, `users`, `groups` and `groupMembers`. A month of a thousand accounts is some 100,000 rows.
 */
export function createUsageReportRepository(database: Database) {
  const parts = usageColumns(database)
  return {
    ...usageByName(database, parts),
    ...usageInAll(database, parts),
  }
}

/** What is summed, and in which days. */
function usageColumns({ tables }: Database) {
  const { tokenUsage: usage } = tables
  const sumOf = (column: SQL | SQL.Aliased | AnyColumn) =>
    sql`coalesce(sum(${column}), 0)`.mapWith(Number)
  const sums = {
    promptTokens: sumOf(usage.promptTokens),
    completionTokens: sumOf(usage.completionTokens),
    cachedTokens: sumOf(usage.cachedTokens),
  }
  const cost = { currency: usage.currency, cost: sql`sum(${usage.cost})`.mapWith(Number) }
  const within = ({ from, to }: DayRange) => and(gte(usage.day, from), lte(usage.day, to))
  /** What had a price. */
  const priced = (range: DayRange) => and(within(range), ne(usage.currency, ''))

  return { sumOf, sums, cost, within, priced }
}

type UsageColumns = ReturnType<typeof usageColumns>

/** By account and by group. */
function usageByName(
  { readOffThread, tables }: Database,
  { sumOf, sums, cost, within, priced }: UsageColumns,
) {
  const { tokenUsage: usage, users, groups, groupMembers } = tables
  /** Summed before anything is joined, so that each account is looked up once. */
  const byAccount = (range: DayRange) =>
    readOffThread
      .select({
        userId: usage.userId,
        promptTokens: sums.promptTokens.as('prompt_sum'),
        completionTokens: sums.completionTokens.as('completion_sum'),
        cachedTokens: sums.cachedTokens.as('cached_sum'),
      })
      .from(usage)
      .where(within(range))
      .groupBy(usage.userId)
      .as('by_account')

  /** The costs of these accounts by currency. */
  async function costsOf(ids: readonly UserId[], range: DayRange) {
    if (ids.length === 0) return new Map<string, Map<string, number>>()
    return byHolder(
      await readOffThread
        .select({ id: usage.userId, ...cost })
        .from(usage)
        .where(and(inArray(usage.userId, [...ids]), priced(range)))
        .groupBy(usage.userId, usage.currency),
    )
  }

  return {
    /** Accounts with usage, most tokens first. */
    async ofAccounts(
      range: DayRange,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<UsageOf>> {
      const [last, lastId] = cursor === undefined ? [] : decodeCursor(TokensCursor, cursor)
      const account = byAccount(range)
      const tokens = sql`(${account.promptTokens} + ${account.completionTokens})`
      const rows = await readOffThread
        .select({
          id: users.id,
          name: users.username,
          promptTokens: account.promptTokens,
          completionTokens: account.completionTokens,
          cachedTokens: account.cachedTokens,
        })
        .from(account)
        .innerJoin(users, eq(users.id, account.userId))
        .where(
          last === undefined || lastId === undefined
            ? undefined
            : or(sql`${tokens} < ${last}`, sql`${tokens} = ${last} and ${users.id} > ${lastId}`),
        )
        .orderBy(desc(tokens), asc(users.id))
        .limit(limit + 1)
      const page = toPage(rows, limit, (row) => [row.promptTokens + row.completionTokens, row.id])
      const costs = await costsOf(
        page.items.map(({ id }) => id),
        range,
      )
      return {
        ...page,
        items: page.items.map((row) => ({ ...row, cost: costs.get(row.id) ?? new Map() })),
      }
    },

    /** Groups whose members have usage, most tokens first; an account in several groups counts in each of them. */
    async ofGroups(range: DayRange): Promise<UsageOf[]> {
      const account = byAccount(range)
      const ofGroup = {
        promptTokens: sumOf(account.promptTokens),
        completionTokens: sumOf(account.completionTokens),
        cachedTokens: sumOf(account.cachedTokens),
      }
      const rows = await readOffThread
        .select({ id: groups.id, name: groups.name, ...ofGroup })
        .from(account)
        .leftJoin(groupMembers, eq(groupMembers.userId, account.userId))
        .leftJoin(groups, eq(groups.id, groupMembers.groupId))
        .groupBy(groups.id, groups.name)
        .orderBy(desc(sql`${ofGroup.promptTokens} + ${ofGroup.completionTokens}`), asc(groups.id))
      const costs = byHolder(
        await readOffThread
          .select({ id: groupMembers.groupId, ...cost })
          .from(usage)
          .leftJoin(groupMembers, eq(groupMembers.userId, usage.userId))
          .where(priced(range))
          .groupBy(groupMembers.groupId, usage.currency),
      )
      return rows.map((row) => ({ ...row, cost: costs.get(row.id) ?? new Map() }))
    },
  }
}

/** In all, and since when. */
function usageInAll(
  { readOffThread, tables }: Database,
  { sums, cost, within, priced }: UsageColumns,
) {
  const { tokenUsage: usage } = tables
  return {
    /** All accounts together. */
    async total(range: DayRange): Promise<UsageSums> {
      const [row] = await readOffThread.select(sums).from(usage).where(within(range))
      const costs = await readOffThread
        .select(cost)
        .from(usage)
        .where(priced(range))
        .groupBy(usage.currency)
      return {
        ...(row ?? { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }),
        cost: new Map(costs.map((one) => [one.currency, one.cost])),
      }
    },

    /** The oldest day with usage, `YYYY-MM-DD`; null without any. */
    async firstDay(): Promise<string | null> {
      const [row] = await readOffThread
        .select({ day: usage.day })
        .from(usage)
        .orderBy(asc(usage.day))
        .limit(1)
      return row?.day ?? null
    },
  }
}

/** Costs by currency, by the id of who had them. */
function byHolder<Id>(rows: readonly { id: Id; currency: string; cost: number }[]) {
  const costs = new Map<Id, Map<string, number>>()
  for (const { id, currency, cost } of rows)
    costs.set(id, (costs.get(id) ?? new Map<string, number>()).set(currency, cost))
  return costs
}
