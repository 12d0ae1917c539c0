// Routes for administrators: the usage of a month by account or by group, as a list and as a file.

import { Readable } from 'node:stream'
import type { DayRange } from '../../db/repositories/accounts/token-usage.ts'
import type { UsageOf, UsageSums } from '../../db/repositories/accounts/usage-report.ts'
import type { App } from '../../http/app.ts'
import { csvLine } from '../../lib/csv.ts'
import {
  type ReportedUsage,
  type UsageBy,
  UsageFilter,
  UsageQuery,
  UsageReport,
  type UsageTotal,
} from '../../protocol/admin/usage.ts'
import { envelope, type Page } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { presentPage, success } from '../envelope.ts'

const DEFAULT_LIMIT = 50
/** Accounts that a file reads at a time. */
const FILE_BATCH_SIZE = 500
/** Spreadsheets recognize UTF-8 by it. */
const BYTE_ORDER_MARK = '\uFEFF'

type ReadPage = { limit: number; cursor?: string | undefined }

/** `/api/admin/usage`. */
export function registerAdminUsageRoutes(
  app: App,
  { store: { usageReport }, now }: Pick<Services, 'store' | 'now'>,
): void {
  const currentMonth = (): string => now().toISOString().slice(0, 7)
  const read = async (by: UsageBy, range: DayRange, page: ReadPage): Promise<Page<UsageOf>> =>
    by === 'account'
      ? usageReport.ofAccounts(range, page)
      : // Few enough for one page.
        { items: await usageReport.ofGroups(range), nextCursor: null, hasMore: false }

  app.get(
    '/api/admin/usage',
    {
      config: { admin: true },
      schema: {
        summary: 'Get the tokens and cost of a month by account or group, most tokens first',
        description:
          'Groups have the usage of their current members. All groups are on one page; an account in several groups counts in each of them, but once in `total`.',
        querystring: UsageQuery,
        response: { 200: envelope(UsageReport) },
      },
    },
    async ({ query: { by, month = currentMonth(), limit = DEFAULT_LIMIT, cursor } }) => {
      const range = daysOf(month)
      const found = await read(by, range, { limit, cursor })
      const firstDay = await usageReport.firstDay()
      return success({
        ...presentPage(found, present),
        month,
        first_month: firstDay?.slice(0, 7) ?? null,
        total: presentSums(await usageReport.total(range)),
      })
    },
  )

  app.get(
    '/api/admin/usage/file',
    {
      config: { admin: true },
      schema: {
        summary: 'Export the usage of a month by account or group as CSV',
        querystring: UsageFilter,
      },
    },
    async ({ query: { by, month = currentMonth() } }, reply) => {
      const range = daysOf(month)
      const { cost } = await usageReport.total(range)
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="usage-${month}-by-${by}.csv"`)
        .send(
          Readable.from(
            linesOf((page) => read(by, range, page), { month, by, currencies: [...cost.keys()] }),
          ),
        )
    },
  )
}

/** The days of a month. Days are compared as texts, so that every month may end with a 31st. */
const daysOf = (month: string): DayRange => ({ from: `${month}-01`, to: `${month}-31` })

async function* linesOf(
  readPage: (page: ReadPage) => Promise<Page<UsageOf>>,
  { month, by, currencies }: { month: string; by: UsageBy; currencies: readonly string[] },
): AsyncGenerator<string> {
  const columns = ['month', by, 'prompt_tokens', 'completion_tokens', 'total_tokens']
  const costs = currencies.map((currency) => `cost_${currency}`)
  yield BYTE_ORDER_MARK + csvLine([...columns, 'cached_tokens', ...costs])
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await readPage({ limit: FILE_BATCH_SIZE, cursor })
    for (const row of items)
      yield csvLine([
        month,
        row.name ?? '',
        row.promptTokens,
        row.completionTokens,
        row.promptTokens + row.completionTokens,
        row.cachedTokens,
        ...currencies.map((currency) => row.cost.get(currency) ?? 0),
      ])
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

const presentSums = (sums: UsageSums): UsageTotal => ({
  prompt_tokens: sums.promptTokens,
  completion_tokens: sums.completionTokens,
  total_tokens: sums.promptTokens + sums.completionTokens,
  cached_tokens: sums.cachedTokens,
  cost: Object.fromEntries(sums.cost),
})

const present = (row: UsageOf): ReportedUsage => ({
  id: row.id,
  name: row.name,
  ...presentSums(row),
})
