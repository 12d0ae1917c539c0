// Query for the timeline of a run.
import { useQuery } from '@tanstack/react-query'
import type { RunTimeline } from '../../../../server/protocol/runs/run-timeline.ts'
import { request } from '../http/api-client.ts'

/** The timeline of a run; polled while the run is active (`live`). */
export const useTimeline = (runId: string, live: boolean) =>
  useQuery({
    queryKey: ['timeline', runId],
    queryFn: ({ signal }) => request<RunTimeline>(`/api/runs/${runId}/timeline`, { signal }),
    refetchInterval: live ? 2_000 : false,
    staleTime: 0,
    meta: { quiet: true },
  })
