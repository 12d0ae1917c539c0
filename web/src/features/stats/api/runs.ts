// The runs of the signed-in user.
import type { ListedRun } from '../../../../../server/protocol/runs/run-list.ts'
import { usePages } from '../../../lib/api/admin.ts'

/** Newest first, page by page. */
export const useRuns = () => usePages<ListedRun>(['runs'], '/api/runs', {})
