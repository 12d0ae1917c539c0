// Approval requests without HTTP: requested, decided once, remembered as grants, and found again by the next attempt.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import type { RunRow } from '../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { ApprovalDecisionBody } from '../../../../server/protocol/runs/run.ts'
import type { ToolProgressNotice } from '../../../../server/protocol/runs/run-event.ts'
import { type ActiveRun, createActiveRun } from '../../../../server/runs/active-run.ts'
import { decideApproval } from '../../../../server/runs/approvals/decide.ts'
import { createApprovals } from '../../../../server/runs/approvals/request.ts'
import { createWriteGroup } from '../../../../server/runs/group-commit.ts'
import { createRunLog } from '../../../../server/runs/log/log.ts'
import { readRunState } from '../../../../server/runs/state.ts'
import { createWaiting } from '../../../../server/runs/waiting.ts'
import type { Approvals } from '../../../../server/tools/approval.ts'
import { createToolRegistry } from '../../../../server/tools/registry.ts'
import { toolCall } from '../../../support/provider/scripted-client.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { storeRun } from '../../../support/store/store-rows.ts'
import { countingTool } from '../../tools/support.ts'

const registry = createToolRegistry([
  () => [countingTool({ name: 'send', riskLevel: 'medium' }).tool],
])
const now = () => new Date()

describeOnEachDatabase('approvals of a run', (open) => {
  let database: Database
  let store: Store
  let run: RunRow
  let active: ActiveRun
  let approvals: Approvals
  let progress: ToolProgressNotice[]
  let pauses: number

  /** Sets up the approvals of another attempt of the run. */
  function begin(): void {
    active = createActiveRun(run.id, createRunLog({ entries: [], steps: [], lastId: 0 }))
    progress = []
    pauses = 0
    active.runLog.subscribe({
      onEntries() {},
      onClose() {},
      onProgress: (notice) => progress.push(notice),
    })
    const writes = createWriteGroup(database, [])
    approvals = createApprovals({
      active,
      run,
      mode: 'ask',
      taint: {
        isTainted: () => false,
        remembered: () => new Set(),
        reload: async () => {},
        addresses: { unknown: async () => [], hasHost: async () => true, record: () => {} },
      },
      store,
      writes,
      waiting: createWaiting({
        active,
        run,
        store,
        writes,
        clock: { pause: () => (pauses += 1), resume: () => (pauses -= 1) },
        announce() {},
      }),
      now,
    })
  }

  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  beforeEach(async () => {
    run = await storeRun(database, store)
    begin()
  })

  const status = async () => [
    (await store.runs.find(run.id))?.status,
    (await store.messages.find(run.conversationId, run.messageId))?.status,
  ]
  const request = (id: string) =>
    approvals.request({
      call: toolCall(id, 'send', '{"value":"x"}'),
      riskLevel: 'medium',
      position: 0,
    })
  /** Decides a request as a person would, and delivers the decision to the waiting call. */
  async function decide(id: string, body: object): Promise<boolean> {
    const decision = await decideApproval(
      run,
      ApprovalDecisionBody.parse({ id_ref: id, decision: 'approve', ...body }),
      { userId: run.userId, username: 'ada', address: null, details: {} },
      { store, database, registry, now },
    )
    return active.decide(id, decision)
  }
  const waiting = (count: number) =>
    expect.poll(() => active.runLog.pendingApprovals.size).toBe(count)

  test('a request is stored, with the status of run and message, before it is emitted', async () => {
    let stored: Promise<unknown[]> | undefined
    active.runLog.subscribe({
      onEntries() {
        stored ??= Promise.all([store.runs.approval(run.id, 'a'), status()])
      },
      onClose() {},
    })
    const decision = request('a')
    await waiting(1)
    expect(await stored).toMatchObject([
      { status: 'pending', name: 'send', riskLevel: 'medium' },
      ['awaiting_approval', 'awaiting_approval'],
    ])
    expect(pauses).toBe(1)
    expect(await decide('a', {})).toBe(true)
    expect(await decision).toEqual({ decision: 'approve' })
  })

  test('the decision is emitted as progress of its call, and the run continues once nothing waits', async () => {
    const decisions = [request('a'), request('b')]
    await waiting(2)
    await decide('a', { decision: 'reject', reason: 'not today' })
    expect(await decisions[0]).toEqual({ decision: 'reject', reason: 'not today' })
    expect(await status()).toEqual(['awaiting_approval', 'awaiting_approval'])
    await decide('b', { arguments: { value: 'y' } })
    expect(await decisions[1]).toEqual({ decision: 'approve', arguments: '{"value":"y"}' })
    expect(await status()).toEqual(['running', 'streaming'])
    expect(progress).toEqual([
      { id_ref: 'a', progress: { kind: 'decided', decision: 'reject' } },
      { id_ref: 'b', progress: { kind: 'decided', decision: 'approve' } },
    ])
    expect(pauses).toBe(0)
  })

  test('a request that waited when the process ended waits again under the same id, and is not emitted again once it is decided', async () => {
    void request('a')
    await waiting(1)
    begin()
    void request('a')
    await waiting(1)
    expect(await store.runs.approvals(run.id)).toHaveLength(1)
    await decide('a', { decision: 'reject' })
    begin()
    expect(await request('a')).toEqual({ decision: 'reject' })
    expect(active.runLog.entries).toEqual([])
  })

  test('a call is decided once, and not after the end of its run', async () => {
    void request('a')
    void request('b')
    await waiting(2)
    await decide('a', {})
    await expect(decide('a', { decision: 'reject' })).rejects.toMatchObject({
      code: 'approval_decided',
    })
    await expect(decide('unknown', {})).rejects.toMatchObject({ code: 'not_found' })
    await database.write((tx) =>
      store.runs.end(tx, run.id, { status: 'stopped', finishReason: 'stopped', endedAt: now() }),
    )
    await expect(decide('b', {})).rejects.toMatchObject({ code: 'approval_decided' })
  })

  test('invalid arguments are refused, and the call keeps waiting', async () => {
    const decision = request('a')
    await waiting(1)
    await expect(decide('a', { arguments: { value: 7 } })).rejects.toMatchObject({
      code: 'validation_failed',
    })
    expect((await store.runs.approval(run.id, 'a'))?.status).toBe('pending')
    await decide('a', {})
    expect(await decision).toEqual({ decision: 'approve' })
  })

  test('an approval is remembered for the run or the conversation, a rejection never', async () => {
    for (const id of ['a', 'b', 'c']) void request(id)
    await waiting(3)
    const grants = async () => [
      readRunState((await store.runs.find(run.id))?.state).grants,
      (await store.conversations.find(run.userId, run.conversationId))?.approvalGrants,
    ]
    await decide('a', { decision: 'reject', remember: 'conversation' })
    expect(await grants()).toEqual([[], []])
    await decide('b', { remember: 'run' })
    expect(await grants()).toEqual([['send'], []])
    await decide('c', { remember: 'conversation' })
    expect(await grants()).toEqual([['send'], ['send']])
  })
})
