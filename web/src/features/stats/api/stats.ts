// Requests for the signed-in user's token statistics.
import { useQuery } from '@tanstack/react-query'
import type { StatsPeriod, TokenStats } from '../../../../../server/protocol/runs/stats.ts'
import { request } from '../../../lib/http/api-client.ts'

/** Totals and a series over the period, in the server's days. */
export const useTokenStats = (period: StatsPeriod) =>
  useQuery({
    queryKey: ['stats', period],
    queryFn: ({ signal }) =>
      request<TokenStats>('/api/stats/tokens', { query: { period }, signal }),
  })
