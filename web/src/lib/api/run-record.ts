// What a run sent to models and received, and what it stored when.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RunRecord } from '../../../../server/protocol/runs/run-record.ts'
import { request } from '../http/api-client.ts'

/** `state` is what the record depends on: it is read again when that changes. */
export const useRunRecord = (runId: string, state: string) =>
  useQuery({
    queryKey: ['run-record', runId, state],
    queryFn: ({ signal }) => request<RunRecord>(`/api/runs/${runId}/record`, { signal }),
    placeholderData: keepPreviousData,
    // It may be long, and is of no use once the inspector is closed.
    gcTime: 60_000,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { quiet: true },
  })
