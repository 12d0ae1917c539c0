// Usage: tokens and cost, summed by hour, model and currency.
import { and, asc, eq, gte, inArray, lte, sql } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'

/** A row of `token_usage`: a user's usage of one model in one currency and hour. */
export type UsageRow = Database['tables']['tokenUsage']['$inferSelect']

/** Usage of one model in one currency ('' where it has no price) on a day; `hour` where hours were requested. */
export type UsageSum = Pick<
  UsageRow,
  | 'day'
  | 'model'
  | 'currency'
  | 'promptTokens'
  | 'completionTokens'
  | 'cachedTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'cost'
>

/** `YYYY-MM-DD`, UTC; both ends are included. */
export type DayRange = { from: string; to: string }

/** The UTC day of a time, as in `UsageRow`. */
export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)

/** Stores and sums the token usage of users. Uses the table `tokenUsage`. */
export function createTokenUsageRepository(database: Database) {
  const { read, tables } = database
  const { tokenUsage: usage } = tables
  const sums = {
    promptTokens: sql`sum(${usage.promptTokens})`.mapWith(Number),
    completionTokens: sql`sum(${usage.completionTokens})`.mapWith(Number),
    cachedTokens: sql`sum(${usage.cachedTokens})`.mapWith(Number),
    cacheWriteTokens: sql`sum(${usage.cacheWriteTokens})`.mapWith(Number),
    reasoningTokens: sql`sum(${usage.reasoningTokens})`.mapWith(Number),
    cost: sql`sum(${usage.cost})`.mapWith(Number),
  }

  const addStatement = prepareOnEach((tx) =>
    tx
      .insert(usage)
      .values({
        userId: placeholder('userId'),
        day: placeholder('day'),
        hour: placeholder('hour'),
        model: placeholder('model'),
        currency: placeholder('currency'),
        promptTokens: placeholder('promptTokens'),
        completionTokens: placeholder('completionTokens'),
        cachedTokens: placeholder('cachedTokens'),
        cacheWriteTokens: placeholder('cacheWriteTokens'),
        reasoningTokens: placeholder('reasoningTokens'),
        cost: placeholder('cost'),
      })
      .onConflictDoUpdate({
        target: [usage.userId, usage.day, usage.hour, usage.model, usage.currency],
        set: {
          promptTokens: sql`${usage.promptTokens} + excluded.prompt_tokens`,
          completionTokens: sql`${usage.completionTokens} + excluded.completion_tokens`,
          cachedTokens: sql`${usage.cachedTokens} + excluded.cached_tokens`,
          cacheWriteTokens: sql`${usage.cacheWriteTokens} + excluded.cache_write_tokens`,
          reasoningTokens: sql`${usage.reasoningTokens} + excluded.reasoning_tokens`,
          cost: sql`${usage.cost} + excluded.cost`,
        },
      })
      .prepare('add usage'),
  )

  return {
    /** Adds usage at `moment`. */
    async add(tx: Writer, moment: Date, use: Omit<UsageRow, 'day' | 'hour'>): Promise<void> {
      await addStatement(tx).execute({ ...use, day: dayOf(moment), hour: moment.getUTCHours() })
    },

    /** By day, model and currency, oldest first. `userId` null: all users together. */
    byDay: async (userId: UserId | null, range: DayRange): Promise<UsageSum[]> =>
      read
        .select({ day: usage.day, model: usage.model, currency: usage.currency, ...sums })
        .from(usage)
        .where(within(database, userId, range))
        .groupBy(usage.day, usage.model, usage.currency)
        .orderBy(asc(usage.day), asc(usage.model), asc(usage.currency)),

    /** One day by hour, model and currency, oldest first. */
    byHour: async (
      userId: UserId | null,
      day: string,
    ): Promise<(UsageSum & Pick<UsageRow, 'hour'>)[]> =>
      read
        .select({
          day: usage.day,
          hour: usage.hour,
          model: usage.model,
          currency: usage.currency,
          ...sums,
        })
        .from(usage)
        .where(within(database, userId, { from: day, to: day }))
        .groupBy(usage.day, usage.hour, usage.model, usage.currency)
        .orderBy(asc(usage.hour), asc(usage.model), asc(usage.currency)),

    /** The total usage of some users in a range of days, for limits: tokens, and cost by currency. */
    async total(
      userIds: readonly UserId[],
      range: DayRange,
    ): Promise<{ tokens: number; cost: Map<string, number> }> {
      const rows = await read
        .select({ currency: usage.currency, ...sums })
        .from(usage)
        .where(within(database, userIds, range))
        .groupBy(usage.currency)
      const tokens = rows.reduce((sum, row) => sum + row.promptTokens + row.completionTokens, 0)
      const priced = rows.filter(({ currency }) => currency !== '')
      return { tokens, cost: new Map(priced.map(({ currency, cost }) => [currency, cost])) }
    },
  }
}

/** @param userIds null: all users. */
function within(
  database: Database,
  userIds: UserId | readonly UserId[] | null,
  { from, to }: DayRange,
) {
  const { tokenUsage: usage } = database.tables
  return and(
    userIds === null
      ? undefined
      : typeof userIds === 'string'
        ? eq(usage.userId, userIds)
        : inArray(usage.userId, [...userIds]),
    gte(usage.day, from),
    lte(usage.day, to),
  )
}

function placeholder(name: keyof UsageRow) {
  return sql.placeholder(name)
}
