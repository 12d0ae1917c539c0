// Requests for the signed-in user's runs.
import type { ListedRun } from '../../../../../server/protocol/runs/run-list.ts'
import { usePages } from '../../../lib/http/pages.ts'

/** The query key of `useRuns`. */
export const runsKey = ['runs'] as const

/** The runs, newest first, page by page. */
export const useRuns = () => usePages<ListedRun>(runsKey, '/api/runs', {})
