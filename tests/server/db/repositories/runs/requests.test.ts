// Requests for a decision as the database holds them: beside a version without the list, and beside other instances.
import { and, eq } from 'drizzle-orm'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import type { ApprovalRow } from '../../../../../server/db/repositories/runs/approvals.ts'
import type { NewRunInput } from '../../../../../server/db/repositories/runs/run-inputs.ts'
import { toPendingInput } from '../../../../../server/db/repositories/runs/run-inputs.ts'
import type { RunRow } from '../../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { callHash } from '../../../../../server/lib/call-hash.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { storeRun } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('requests for a decision', (open) => {
  let database: Database
  let store: Store
  let run: RunRow

  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  beforeEach(async () => {
    run = await storeRun(database, store, { owner: 'a' })
  })

  const approval = (): ApprovalRow => ({
    runId: run.id,
    idRef: 'call',
    position: 0,
    name: 'send',
    arguments: '{}',
    riskLevel: 'medium',
    preview: null,
    status: 'pending',
    reason: null,
    decidedArguments: null,
    id: newId<string>(),
    userId: run.userId,
    tainted: false,
    byApp: false,
    callHash: 'hash',
    createdAt: new Date(),
    deadline: null,
    decidedAt: null,
    decidedBy: null,
    decidedThrough: null,
  })
  const question = (): NewRunInput => ({
    runId: run.id,
    idRef: 'question',
    callId: 'question',
    round: 0,
    position: 0,
    question: { server: 's', host: 'h', mode: 'form', message: 'Which?' },
    createdAt: new Date(),
    id: newId<string>(),
    userId: run.userId,
  })
  const listed = async (state: 'pending' | 'decided') =>
    (await store.requests.list(run.userId, { state }, { limit: 9 })).items.map(
      ({ request: { idRef } }) => idRef,
    )

  test('of a version without the list are in the list of their user as soon as the run asks again', async () => {
    const { approvals, runInputs } = database.tables
    await database.write(async (tx) => {
      await tx.insert(approvals).values({ ...approval(), userId: '', callHash: null })
      await tx.insert(runInputs).values({ ...question(), userId: '' })
    })
    expect(await listed('pending')).toEqual([])
    await database.write(async (tx) => {
      expect(await store.runs.insertApproval(tx, approval())).toMatchObject({ isNew: true })
      expect(await store.runInputs.insert(tx, [question()])).toHaveLength(1)
      // Asking again adds nothing.
      expect(await store.runs.insertApproval(tx, approval())).toMatchObject({ isNew: false })
      expect(await store.runInputs.insert(tx, [question()])).toEqual([])
    })
    expect((await listed('pending')).sort()).toEqual(['call', 'question'])
  })

  test('do not wait any longer when a version that leaves them pending has ended their run', async () => {
    await database.write(async (tx) => {
      await store.runs.insertApproval(tx, approval())
      await store.runInputs.insert(tx, [question()])
      await store.runs.end(tx, run.id, { status: 'stopped', endedAt: new Date() })
    })
    expect(await listed('pending')).toEqual([])
    expect((await listed('decided')).sort()).toEqual(['call', 'question'])
  })

  test('are answered when they close although a version without the list stored only the answer', async () => {
    const { runInputs } = database.tables
    await database.write(async (tx) => {
      await store.runInputs.insert(tx, [question()])
      await tx
        .update(runInputs)
        .set({ answer: { action: 'cancel' } })
        .where(and(eq(runInputs.runId, run.id), eq(runInputs.idRef, 'question')))
      expect(await store.runInputs.close(tx, { runId: run.id, at: new Date() })).toEqual([])
    })
    const [item] = (await store.requests.list(run.userId, { state: 'decided' }, { limit: 9 })).items
    expect(item?.request).toMatchObject({ status: 'answered', answer: null })
  })

  test('that another instance decided are found while the run also waits for an answer', async () => {
    await database.write(async (tx) => {
      await store.runs.insertApproval(tx, approval())
      await store.runInputs.insert(tx, [question()])
      await store.runs.write(tx, run, { status: 'awaiting_input' })
    })
    expect(await store.leases.changedRuns('a')).not.toContainEqual({
      id: run.id,
      stopRequested: false,
      stopCause: null,
    })
    await database.write((tx) =>
      store.runs.decide(tx, approval(), { status: 'approved', decidedAt: new Date() }),
    )
    expect(await store.leases.changedRuns('a')).toContainEqual({
      id: run.id,
      stopRequested: false,
      stopCause: null,
    })
  })

  test('that are long stand in lists without arguments and preview, and whole alone, with the same hash', async () => {
    const long = {
      ...approval(),
      arguments: JSON.stringify({ content: 'ä'.repeat(3_000) }),
      preview: { diff: '+'.repeat(1_500) },
    }
    await database.write((tx) => store.runs.insertApproval(tx, long))
    const [item] = (await store.requests.list(run.userId, { state: 'pending' }, { limit: 9 })).items
    expect(item).toMatchObject({ content: null, request: { callHash: 'hash', name: 'send' } })
    const { arguments: given, preview } = long
    expect(await store.requests.find(run.userId, long.id)).toMatchObject({
      content: { arguments: given, preview, decidedArguments: null },
    })
    const short = { ...approval(), idRef: 'short', preview: { diff: '+' } }
    await database.write((tx) => store.runs.insertApproval(tx, short))
    const { items } = await store.requests.list(run.userId, { state: 'pending' }, { limit: 9 })
    expect(items.find(({ request }) => request.id === short.id)).toMatchObject({
      content: { arguments: '{}', preview: { diff: '+' } },
    })
  })

  test('from before hashes were stored have one, also where the list leaves out their arguments', async () => {
    const given = { content: 'x'.repeat(5_000) }
    const old = { ...approval(), callHash: null, arguments: JSON.stringify(given) }
    await database.write((tx) => store.runs.insertApproval(tx, old))
    const [item] = (await store.requests.list(run.userId, { state: 'pending' }, { limit: 9 })).items
    const hash = callHash({ run_id: run.id, id_ref: 'call', name: 'send', arguments: given })
    expect(item).toMatchObject({ content: null, request: { callHash: hash } })
  })

  test('that are asked again keep what became of them before', async () => {
    const first = question()
    await database.write(async (tx) => {
      await store.runInputs.insert(tx, [first])
      await store.runInputs.close(tx, { runId: run.id, callId: 'question', at: new Date() })
    })
    const again = question()
    await database.write((tx) => store.runInputs.insert(tx, [again]))
    const { items } = await store.requests.list(run.userId, { state: 'decided' }, { limit: 9 })
    expect(items.map(({ request: { id, status } }) => [id, status])).toEqual([[first.id, 'void']])
    const [kept] = items
    if (kept?.type !== 'input') throw new Error('The question is a request for input.')
    expect(toPendingInput(kept.request).id_ref).toBe('question')
    expect(await store.runInputs.find(run.id, 'question')).toMatchObject({ id: again.id })
  })
})
