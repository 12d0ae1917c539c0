// Requests for the signed-in user's runs.
import type { ListedRun } from '../../../../../server/protocol/runs/run-list.ts'
import { usePages } from '../../../lib/api/admin.ts'

/** The runs, newest first, page by page. */
export const useRuns = () => usePages<ListedRun>(['runs'], '/api/runs', {})
