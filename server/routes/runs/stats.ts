// Routes for usage statistics: by hour or day, model and currency.

import { z } from 'zod'
import type { DayRange, UsageSum } from '../../db/repositories/accounts/token-usage.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { StatsPeriod, TokenStats } from '../../protocol/runs/stats.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const Query = z.object({
  period: StatsPeriod.default('daily').describe(
    '`daily`: today; `weekly`: the last 7 days; `monthly`: the last 30 days. In UTC.',
  ),
})
const PERIOD_DAYS = { daily: 1, weekly: 7, monthly: 30 } as const
const DAY_MS = 24 * 60 * 60 * 1000

/** `GET /api/stats/tokens` (own usage) and `GET /api/admin/stats` (all users). Days and hours are in UTC. */
export function registerStatsRoutes(
  app: App,
  { store: { tokenUsage }, now }: Pick<Services, 'store' | 'now'>,
): void {
  const stats = async (userId: UserId | null, period: StatsPeriod): Promise<TokenStats> => {
    const range = daysBack(now(), PERIOD_DAYS[period])
    if (period === 'daily') {
      const rows = await tokenUsage.byHour(userId, range.to)
      const hourly = sumBy(rows, ({ hour }) => hourName(hour), hours)
      return { period, ...summarise(rows), hourly }
    }
    const rows = await tokenUsage.byDay(userId, range)
    return { period, ...summarise(rows), daily: sumBy(rows, ({ day }) => day, daysOfRange(range)) }
  }

  const schema = { querystring: Query, response: { 200: envelope(TokenStats) } }
  app.get(
    '/api/stats/tokens',
    { schema: { summary: 'Get the tokens and cost of your runs', ...schema } },
    async ({ user, query }) => success(await stats(user.id, query.period)),
  )
  app.get(
    '/api/admin/stats',
    {
      config: { admin: true },
      schema: { summary: 'Get the tokens and cost of all users', ...schema },
    },
    async ({ query }) => success(await stats(null, query.period)),
  )
}

const dayName = (time: number): string => new Date(time).toISOString().slice(0, 10)

const daysBack = (today: Date, days: number): DayRange => ({
  from: dayName(today.getTime() - (days - 1) * DAY_MS),
  to: dayName(today.getTime()),
})

/** Both ends are included; in UTC every day has the same length. */
function daysOfRange({ from, to }: DayRange): string[] {
  const days: string[] = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_MS) days.push(dayName(time))
  return days
}

const hourName = (hour: number): string => String(hour).padStart(2, '0')
const hours = Array.from({ length: 24 }, (_, hour) => hourName(hour))

type Tokens = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  reasoning_tokens: number
}

const none = (): Tokens => ({
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
})

function add(sum: Tokens, row: UsageSum): void {
  sum.prompt_tokens += row.promptTokens
  sum.completion_tokens += row.completionTokens
  sum.total_tokens += row.promptTokens + row.completionTokens
  sum.cached_tokens += row.cachedTokens
  sum.cache_write_tokens += row.cacheWriteTokens
  sum.reasoning_tokens += row.reasoningTokens
}

const byBothNames = (tokens: Tokens) => ({
  ...tokens,
  prompt: tokens.prompt_tokens,
  completion: tokens.completion_tokens,
  total: tokens.total_tokens,
})

/** @param keys included even without usage, first and in this order. */
function sumBy<Row extends UsageSum>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  keys: readonly string[] = [],
): Record<string, ReturnType<typeof byBothNames>> {
  const sums = new Map(keys.map((key) => [key, none()]))
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? none()
    add(sum, row)
    sums.set(keyOf(row), sum)
  }
  return Object.fromEntries([...sums].map(([key, sum]) => [key, byBothNames(sum)]))
}

function summarise(rows: readonly UsageSum[]): Omit<TokenStats, 'period' | 'daily' | 'hourly'> {
  const total = none()
  for (const row of rows) add(total, row)
  const tokensByModel = Object.entries(sumBy(rows, ({ model }) => model))
  return {
    ...total,
    by_model: Object.fromEntries(
      tokensByModel.map(([model, tokens]) => [
        model,
        { ...tokens, cost: costByCurrency(rows.filter((row) => row.model === model)) },
      ]),
    ),
    cost: costByCurrency(rows),
  }
}

/** Sums per currency; amounts in different currencies are never added together. */
function costByCurrency(rows: readonly UsageSum[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const { currency, cost } of rows)
    if (currency !== '') sums.set(currency, (sums.get(currency) ?? 0) + cost)
  return Object.fromEntries(sums)
}
