// The databases that the suites run on.
import type { Dialect } from '../../../server/db/database.ts'

/** Both; only SQLite in `npm test`, which contributors run while they work. */
export const DIALECTS: readonly Dialect[] =
  process.env.TESTS === 'quick' ? ['sqlite'] : ['sqlite', 'postgres']
