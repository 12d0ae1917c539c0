// The default model if administrators have not chosen one.
import type { AdminModel } from '../../../../server/protocol/models/catalog.ts'

type Candidate = Pick<AdminModel, 'id' | 'needs_key'>

/**
 * Applies the server's rule: the model that the configuration names if it exists, else the first whose key can be read,
 * else the first. Undefined without models.
 */
export const configuredDefault = <T extends Candidate>(
  models: readonly T[],
  named: string | null,
): T | undefined =>
  models.find(({ id }) => id === named) ?? models.find(({ needs_key }) => !needs_key) ?? models[0]
