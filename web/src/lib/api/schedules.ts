// One schedule, for its page and for the conversation that holds its runs.
import { useQuery } from '@tanstack/react-query'
import type { Schedule } from '../../../../server/protocol/schedules/schedule.ts'
import { request } from '../http/api-client.ts'

/** One schedule, given its id; not asked for without one. It follows every change, because all keys of schedules begin so. */
export const useSchedule = (id: string | undefined) =>
  useQuery({
    queryKey: ['schedules', 'one', id],
    queryFn: ({ signal }) =>
      request<Schedule>(`/api/schedules/${encodeURIComponent(id ?? '')}`, { signal }),
    enabled: id !== undefined,
    // One that was deleted is gone.
    retry: false,
    meta: { quiet: true },
  })
