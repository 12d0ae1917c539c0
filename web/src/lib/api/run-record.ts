// Query for the record of a run: its requests to models, the responses, and its commits.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RunRecord } from '../../../../server/protocol/runs/run-record.ts'
import { request } from '../http/api-client.ts'

/** The record of a run. It is refetched when `state`, any text that identifies the run's progress, changes. */
export const useRunRecord = (runId: string, state: string) =>
  useQuery({
    queryKey: ['run-record', runId, state],
    queryFn: ({ signal }) => request<RunRecord>(`/api/runs/${runId}/record`, { signal }),
    placeholderData: keepPreviousData,
    // It may be large, and nothing else uses it once the inspector is closed.
    gcTime: 60_000,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { quiet: true },
  })
