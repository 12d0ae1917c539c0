// Which model is the default where administrators have set none.
import type { AdminModel } from '../../../../server/protocol/models/catalog.ts'

type Candidate = Pick<AdminModel, 'id' | 'needs_key'>

/**
 * As the server chooses it: the named one if it exists, else the first whose key can be read, else the first of all.
 * Undefined without models.
 */
export const configuredDefault = <T extends Candidate>(
  models: readonly T[],
  named: string | null,
): T | undefined =>
  models.find(({ id }) => id === named) ?? models.find(({ needs_key }) => !needs_key) ?? models[0]
