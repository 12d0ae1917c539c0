// Uses of a grant: counted once per call, never more often than allowed, whoever counts at the same time.
import { expect, test } from 'vitest'
import type { GrantRow } from '../../../server/db/repositories/runs/grants.ts'
import { createStore } from '../../../server/db/store.ts'
import { applyGrant } from '../../../server/grants/use.ts'
import { newId } from '../../../server/lib/ids.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { storeRun } from '../../support/store/store-rows.ts'

test.each(DIALECTS)(
  'of forty calls that two instances start at once, a grant for seven lets exactly seven through (%s)',
  async (dialect) => {
    const settings = await databases.migrated(dialect)
    const sides = await Promise.all(
      [0, 1].map(async () => {
        const database = await databases.connect(settings)
        return { database, store: createStore(database) }
      }),
    )
    const [first] = sides
    if (first === undefined) throw new Error('unreachable')
    const run = await storeRun(first.database, first.store)
    const row: GrantRow = {
      id: newId(),
      userId: run.userId,
      conversationId: run.conversationId,
      projectId: null,
      scheduleId: null,
      runId: null,
      tool: 'file_write',
      toolPrint: null,
      match: {},
      evenTainted: false,
      expiresAt: null,
      maxUses: 7,
      uses: 0,
      lastUsedAt: null,
      createdAt: new Date(),
      createdFrom: null,
    }
    await first.database.write((tx) => first.store.grants.insert(tx, row))
    const use = ({ database, store }: (typeof sides)[number], idRef: string): Promise<boolean> =>
      database.write((tx) =>
        applyGrant(
          tx,
          { grantId: row.id, run, idRef, tool: row.tool, at: new Date(), mayBeFirst: true },
          { store },
        ),
      )
    const started = await Promise.all(
      sides.flatMap((side, at) => Array.from({ length: 20 }, (_, n) => use(side, `${at}-${n}`))),
    )
    expect(started.filter(Boolean)).toHaveLength(7)
    expect((await first.store.grants.find(run.userId, row.id))?.uses).toBe(7)
    // A call that is repeated after a restart, or whose confirmation was lost, counts once.
    const known = `${started.indexOf(true) < 20 ? 0 : 1}-${started.indexOf(true) % 20}`
    expect(await use(first, known)).toBe(true)
    expect((await first.store.grants.find(run.userId, row.id))?.uses).toBe(7)
    const { items } = await first.store.audit.list({ action: 'grant_used' }, { limit: 10 })
    expect(items).toHaveLength(1)
  },
)
const databases = useDatabases()
