// Measures what a grant adds to the start of a call that it lets through, with 200 grants for the tool, on both databases.
import { z } from 'zod'
import { connect } from '../server/db/connect.ts'
import type { DatabaseSettings } from '../server/db/database.ts'
import { inParallel } from '../server/db/fragments.ts'
import { createStore } from '../server/db/store.ts'
import { createRunGrants, toolPrintOf } from '../server/grants/covering.ts'
import { applyGrant } from '../server/grants/use.ts'
import { newId } from '../server/lib/ids.ts'
import { defineTool, succeed } from '../server/tools/definition.ts'
import { onConnection } from '../tests/support/store/explain.ts'
import { storeRun } from '../tests/support/store/store-rows.ts'
import { onBothDatabases } from './postgres.ts'
import { ofRounds, type Row } from './row.ts'

const GRANTS = 200
const ROUNDS = 300
const LIMIT_MS = 1

const log = { info() {}, warn() {} }

const tool = defineTool({
  name: 'file_write',
  description: 'Writes a file.',
  category: 'file',
  input: z.object({ path: z.string(), content: z.string() }),
  handler: async () => succeed({}),
})

/** A transaction that stores the start of a call, with and without the use of a grant, in alternation. */
async function measure(settings: DatabaseSettings): Promise<Row> {
  const database = await connect(settings, { log })
  try {
    const store = createStore(database)
    const run = await storeRun(database, store)
    for (let index = 0; index < GRANTS; index += 1)
      await database.write((tx) =>
        store.grants.insert(tx, {
          id: newId(),
          userId: run.userId,
          conversationId: run.conversationId,
          projectId: null,
          scheduleId: null,
          runId: null,
          tool: tool.name,
          toolPrint: toolPrintOf(tool),
          match: { path: { glob: `folder-${index}/**/*.md` }, content: { any: true } },
          evenTainted: false,
          expiresAt: null,
          maxUses: null,
          uses: 0,
          lastUsedAt: null,
          createdAt: new Date(),
          createdFrom: null,
        }),
      )
    await onConnection(settings, 'analyze')
    const grants = createRunGrants({
      store,
      place: { ...run, scheduleId: null, runId: run.id },
      retry: (read) => read(),
      now: () => new Date(),
    })
    const value = { path: `folder-${GRANTS - 1}/notes/a.md`, content: 'x'.repeat(2_000) }
    // What the start of every call stores; here a row of the run stands for its step.
    const begin = (tx: Parameters<Parameters<typeof database.write>[0]>[0]) =>
      store.conversations.touch(tx, run.conversationId, new Date())
    const plain = async (): Promise<void> => {
      await database.write(begin)
    }
    const granted = async (idRef: string): Promise<void> => {
      const grantId = await grants.covering({ tool, value, riskLevel: 'medium', tainted: false })
      if (grantId === null) throw new Error('No grant covers the call.')
      await database.write(async (tx) => {
        const mayBeFirst = !grants.hasUsed(grantId)
        const used = { grantId, run, idRef, tool: tool.name, at: new Date(), mayBeFirst }
        await inParallel(
          () => applyGrant(tx, used, { store }),
          () => begin(tx),
        )
      })
      grants.settled(grantId, true)
    }
    const added: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now()
      await plain()
      const between = performance.now()
      await granted(`call_${round}`)
      added.push(performance.now() - between - (between - began))
    }
    const measured = ofRounds(added.slice(ROUNDS / 10))
    return {
      suite: 'store',
      figure: `what a grant adds to a call, with ${GRANTS} grants, ${settings.dialect}`,
      target: `≤ ${LIMIT_MS} ms`,
      unit: 'ms',
      ok: measured.value <= LIMIT_MS,
      ...measured,
    }
  } finally {
    await database.close()
  }
}

/** Runs the suite on both databases. */
export const run = (): Promise<Row[]> => onBothDatabases(measure)
