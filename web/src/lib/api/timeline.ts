// What a run did and when.
import { useQuery } from '@tanstack/react-query'
import type { RunTimeline } from '../../../../server/protocol/runs/run-timeline.ts'
import { request } from '../http/api-client.ts'

/** `live`: the run is active, so that its timeline grows. */
export const useTimeline = (runId: string, live: boolean) =>
  useQuery({
    queryKey: ['timeline', runId],
    queryFn: ({ signal }) => request<RunTimeline>(`/api/runs/${runId}/timeline`, { signal }),
    refetchInterval: live ? 2_000 : false,
    staleTime: 0,
    meta: { quiet: true },
  })
