// What was spent, by hour or by day, model and currency.
import { z } from 'zod'
import type { DayRange, TokenUsageRepository, UsageSum } from '../db/repositories/token-usage.ts'
import type { App } from '../plugins/app.ts'
import { envelope } from '../protocol/envelope.ts'
import type { UserId } from '../protocol/ids.ts'
import { StatsPeriod, TokenStats } from '../protocol/stats.ts'
import { success } from './answers.ts'

export interface StatsRouteDependencies {
  tokenUsage: TokenUsageRepository
  now(): Date
}

const Query = z.object({ period: StatsPeriod.default('daily') })
const daysOf = { daily: 1, weekly: 7, monthly: 30 } as const
const DAY_MS = 24 * 60 * 60 * 1000

/** `GET /api/stats/tokens` (one's own) and `GET /api/admin/stats` (everybody together). Days and hours are UTC. */
export function registerStatsRoutes(app: App, { tokenUsage, now }: StatsRouteDependencies): void {
  const stats = async (userId: UserId | null, period: StatsPeriod): Promise<TokenStats> => {
    const range = daysBack(now(), daysOf[period])
    if (period === 'daily') {
      const rows = await tokenUsage.byHour(userId, range.to)
      const hourly = sumBy(rows, ({ hour }) => String(hour).padStart(2, '0'))
      return { period, ...summarise(rows), hourly }
    }
    const rows = await tokenUsage.byDay(userId, range)
    return { period, ...summarise(rows), daily: sumBy(rows, ({ day }) => day) }
  }

  const schema = { querystring: Query, response: { 200: envelope(TokenStats) } }
  app.get(
    '/api/stats/tokens',
    { schema: { summary: 'Tokens and cost of the own runs', ...schema } },
    async ({ user, query }) => success(await stats(user.id, query.period)),
  )
  app.get(
    '/api/admin/stats',
    {
      config: { admin: true },
      schema: { summary: 'Tokens and cost of everybody together', ...schema },
    },
    async ({ query }) => success(await stats(null, query.period)),
  )
}

function daysBack(today: Date, days: number): DayRange {
  const day = (time: number): string => new Date(time).toISOString().slice(0, 10)
  return { from: day(today.getTime() - (days - 1) * DAY_MS), to: day(today.getTime()) }
}

type Tokens = { prompt_tokens: number; completion_tokens: number; total_tokens: number }

const none = (): Tokens => ({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })

function add(sum: Tokens, row: UsageSum): void {
  sum.prompt_tokens += row.promptTokens
  sum.completion_tokens += row.completionTokens
  sum.total_tokens += row.promptTokens + row.completionTokens
}

function sumBy<Row extends UsageSum>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Record<string, Tokens> {
  const sums = new Map<string, Tokens>()
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? none()
    add(sum, row)
    sums.set(keyOf(row), sum)
  }
  return Object.fromEntries(sums)
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

/** Money of different currencies is never added up. */
function costByCurrency(rows: readonly UsageSum[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const { currency, cost } of rows)
    if (currency !== '') sums.set(currency, (sums.get(currency) ?? 0) + cost)
  return Object.fromEntries(sums)
}
