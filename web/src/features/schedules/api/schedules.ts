// Requests for the user's schedules and what came of them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Occurrence, Schedule } from '../../../../../server/protocol/schedules/schedule.ts'
import { request, requestDone } from '../../../lib/http/api-client.ts'
import { usePages } from '../../../lib/http/pages.ts'

export type { Occurrence, Schedule }

/** Begins the key of every query of schedules. */
export const schedulesKey = ['schedules'] as const

/** What the form sends. */
export interface ScheduleBody {
  name: string
  text: string
  project_id: string | null
  when: object
  quiet: boolean
  watch: { page: string } | null
  approval: Schedule['approval']
  notify: Schedule['notify']
  limits: Schedule['limits']
  checks: Schedule['checks']
}

/** The names of the user's channels. */
export const useChannelNames = () =>
  useQuery({
    queryKey: ['channels'],
    queryFn: ({ signal }) =>
      request<{ items: { name: string }[] }>('/api/channels', { signal }).then(
        ({ items }) => items,
      ),
    select: (channels) => channels.map(({ name }) => name),
    meta: { quiet: true },
  })

/** The schedules, newest first, page by page. */
export const useSchedules = () =>
  usePages<Schedule>([...schedulesKey, 'list'], '/api/schedules', {})

/** What came of the due times of one schedule, newest first. */
export const useOccurrences = (id: string) =>
  usePages<Occurrence>(['occurrences', id], `/api/schedules/${id}/occurrences`, {})

/** The next five times of a cron pattern or an interval; not asked for until it is written. */
export const usePreview = (query: { cron: string; tz: string } | { every: string } | null) =>
  useQuery({
    queryKey: [...schedulesKey, 'preview', query],
    queryFn: ({ signal }) =>
      request<{ times: string[] }>('/api/schedules/preview', {
        query: { ...query, count: '5' },
        signal,
      }).then(({ times }) => times),
    enabled: query !== null,
    retry: false,
    meta: { quiet: true },
  })

function useScheduleChange<Input, Output>(
  change: (input: Input) => Promise<Output>,
  quiet = false,
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: schedulesKey }),
    meta: { quiet },
  })
}

/** Creates a schedule. Only this response contains the address of its hook. */
export const useCreateSchedule = () =>
  useScheduleChange(
    (body: ScheduleBody) => request<Schedule>('/api/schedules', { method: 'POST', body }),
    true,
  )

/** Changes a schedule; absent fields stay. */
export const useChangeSchedule = () =>
  useScheduleChange(({ id, ...body }: Partial<ScheduleBody> & { id: string; enabled?: boolean }) =>
    request<Schedule>(`/api/schedules/${id}`, { method: 'PATCH', body }),
  )

export const useRunSchedule = () =>
  useScheduleChange((id: string) =>
    request<{ occurrence_id: string }>(`/api/schedules/${id}/run`, { method: 'POST' }),
  )

/** Its conversations stay. */
export const useDeleteSchedule = () =>
  useScheduleChange((id: string) => requestDone(`/api/schedules/${id}`, { method: 'DELETE' }))
