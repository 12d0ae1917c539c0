// One schedule, for its page and for the conversation that holds its runs.
import { useQuery } from '@tanstack/react-query'
import type { Schedule } from '../../../../server/protocol/schedules/schedule.ts'
import { ApiError, request } from '../http/api-client.ts'

/**
 * One schedule, given its id; not asked for without one. Null once it is deleted. It follows every change, because all keys
 * of schedules begin so.
 */
export const useSchedule = (id: string | undefined) =>
  useQuery({
    queryKey: ['schedules', 'one', id],
    queryFn: async ({ signal }): Promise<Schedule | null> => {
      try {
        return await request<Schedule>(`/api/schedules/${encodeURIComponent(id ?? '')}`, { signal })
      } catch (error) {
        // An error would leave what was known of it in place.
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
    enabled: id !== undefined,
    retry: false,
    meta: { quiet: true },
  })
