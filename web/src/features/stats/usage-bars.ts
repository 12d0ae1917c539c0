// The bars of the usage chart: each hour of a day or each day of a period, including those without usage.
import type { TokenStats } from '../../../../server/protocol/runs/stats.ts'

/** One bar of the chart. */
export type UsageBar = {
  /** `YYYY-MM-DD`, or `00` to `23`. */
  key: string
  tokens: number
}

const DAY_MS = 86_400_000
const PERIOD_DAYS = { daily: 1, weekly: 7, monthly: 30 } as const

/** Computes the bars. Days and hours are in UTC, as on the server. */
export function usageBars(stats: TokenStats, now: Date): UsageBar[] {
  const { period, hourly, daily } = stats
  if (period === 'daily')
    return Array.from({ length: 24 }, (_, hour) => {
      const key = String(hour).padStart(2, '0')
      return { key, tokens: hourly?.[key]?.total_tokens ?? 0 }
    })
  const days = PERIOD_DAYS[period]
  return Array.from({ length: days }, (_, index) => {
    const time = now.getTime() - (days - 1 - index) * DAY_MS
    const key = new Date(time).toISOString().slice(0, 10)
    return { key, tokens: daily?.[key]?.total_tokens ?? 0 }
  })
}
