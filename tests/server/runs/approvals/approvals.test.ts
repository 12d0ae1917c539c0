// Approval requests without HTTP: requested, decided once, remembered as grants, and found again by the next attempt.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { decideApproval } from '../../../../server/chat/decide.ts'
import type { Database } from '../../../../server/db/database.ts'
import type { RunRow } from '../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { createRunGrants } from '../../../../server/grants/covering.ts'
import { callHash } from '../../../../server/lib/call-hash.ts'
import type { Change } from '../../../../server/protocol/change.ts'
import { ProjectId } from '../../../../server/protocol/ids.ts'
import { ApprovalDecisionBody } from '../../../../server/protocol/runs/run.ts'
import type { ToolProgressNotice } from '../../../../server/protocol/runs/run-event.ts'
import { type ActiveRun, createActiveRun } from '../../../../server/runs/active-run.ts'
import { createApprovals, createGates } from '../../../../server/runs/approvals/request.ts'
import { createWriteGroup, type WriteGroup } from '../../../../server/runs/group-commit.ts'
import { createRunLog } from '../../../../server/runs/log/log.ts'
import { createWaiting } from '../../../../server/runs/requests.ts'
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
/** No app has made a call. */
const NO_APP_CALLS = { toolOf: async () => undefined, withdraw: async () => undefined }

describeOnEachDatabase('approvals of a run', (open) => {
  let database: Database
  let store: Store
  let run: RunRow
  let active: ActiveRun
  let approvals: Approvals
  let progress: ToolProgressNotice[]
  let pauses: number
  let seconds: number | undefined
  let changes: Change[]
  /** Whether every write is performed twice, as after a commit whose confirmation was lost. */
  let isRepeated: boolean
  let channelHigh = false

  /** Sets up the approvals of another attempt of the run. */
  function begin(): void {
    active = createActiveRun(run.id, createRunLog({ entries: [], steps: [], lastId: 0 }))
    progress = []
    changes = []
    pauses = 0
    active.runLog.subscribe({
      onEntries() {},
      onClose() {},
      onProgress: (notice) => progress.push(notice),
    })
    const group = createWriteGroup(database, [])
    const writes: WriteGroup = {
      async commit(write) {
        await group.commit(write)
        if (isRepeated) await group.commit(write)
      },
    }
    approvals = createApprovals({
      tell: async () => undefined,
      active,
      run,
      mode: 'ask',
      deadline: seconds,
      announce: (_user, change) => changes.push(change),
      taint: {
        isTainted: () => false,
        addresses: { unknown: async () => [], hasHost: async () => true },
      },
      grants: createRunGrants({
        store,
        place: { ...run, scheduleId: null, runId: run.id },
        retry: (read) => read(),
        now,
      }),
      retry: (read) => read(),
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
    seconds = undefined
    isRepeated = false
    begin()
  })

  const status = async () => [
    (await store.runs.find(run.id))?.status,
    (await store.messages.find(run.conversationId, run.messageId))?.status,
  ]
  const request = (id: string, riskLevel: 'medium' | 'high' = 'medium') =>
    approvals.request({
      call: toolCall(id, 'send', '{"value":"x"}'),
      hash: callHash({ run_id: run.id, id_ref: id, name: 'send', arguments: { value: 'x' } }),
      riskLevel,
      position: 0,
    })
  /** Decides a request as a person would, and delivers the decision to the waiting call. */
  async function decide(
    id: string,
    body: object,
    details: Record<string, string> = {},
  ): Promise<boolean> {
    const { decision } = await decideApproval(
      run,
      ApprovalDecisionBody.parse({ id_ref: id, decision: 'approve', ...body }),
      { userId: run.userId, username: 'ada', address: null, details },
      {
        store,
        database,
        registry,
        appCalls: NO_APP_CALLS,
        settings: { approvalChannelHigh: channelHigh },
        now,
        announce: (_user, change) => changes.push(change),
      },
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

  test('a request without a decision expires at its deadline, once, and the call learns the time', async () => {
    seconds = 0
    begin()
    const decision = await request('a')
    const stored = await store.runs.approval(run.id, 'a')
    expect(decision).toEqual({ decision: 'expire', deadline: stored?.deadline })
    expect(stored).toMatchObject({ status: 'expired', decidedThrough: 'deadline', decidedBy: null })
    expect(progress).toEqual([{ id_ref: 'a', progress: { kind: 'decided', decision: 'expire' } }])
    expect(changes).toMatchObject([
      { type: 'approval', id: stored?.id, change: 'created' },
      { type: 'approval', id: stored?.id, change: 'updated' },
    ])
    await expect(decide('a', {})).rejects.toMatchObject({ code: 'already_decided' })
    // The next attempt finds the expired request.
    begin()
    expect(await request('a')).toMatchObject({ decision: 'expire' })
  })

  test('a call learns that its request has expired although the confirmation of the commit was lost', async () => {
    seconds = 0
    isRepeated = true
    begin()
    expect(await request('a')).toMatchObject({ decision: 'expire' })
  })

  test('a decision that another process stored reaches the call at the deadline at the latest', async () => {
    seconds = 1
    begin()
    const decision = request('a')
    await waiting(1)
    await decideApproval(
      run,
      ApprovalDecisionBody.parse({ id_ref: 'a', decision: 'approve' }),
      { userId: run.userId, username: 'ada', address: null, details: {} },
      {
        store,
        database,
        registry,
        appCalls: NO_APP_CALLS,
        settings: { approvalChannelHigh: false },
        now,
        announce() {},
      },
    )
    expect(await decision).toEqual({ decision: 'approve' })
  })

  test('a decision before the deadline holds, and nothing expires afterwards', async () => {
    seconds = 3600
    begin()
    const decision = request('a')
    await waiting(1)
    expect(active.runLog.pendingApprovals.get('a')?.deadline).toMatch(/Z$/)
    await decide('a', {})
    expect(await decision).toEqual({ decision: 'approve' })
    expect(await store.runs.approval(run.id, 'a')).toMatchObject({
      status: 'approved',
      decidedThrough: 'page',
      decidedBy: run.userId,
    })
  })

  test('a channel decides calls and is named with the decision; those of high risk only where the server says so', async () => {
    const phone = { by: 'channel:phone' }
    const first = request('a')
    await waiting(1)
    await decide('a', {}, phone)
    expect(await first).toEqual({ decision: 'approve' })
    expect(await store.runs.approval(run.id, 'a')).toMatchObject({
      decidedThrough: 'channel:phone',
    })
    const risky = request('b', 'high')
    await waiting(1)
    await expect(decide('b', {}, phone)).rejects.toMatchObject({ reason: 'open_the_page' })
    expect(await store.runs.approval(run.id, 'b')).toMatchObject({ status: 'pending' })
    channelHigh = true
    await decide('b', {}, phone)
    expect(await risky).toEqual({ decision: 'approve' })
    channelHigh = false
    const rejected = request('c', 'high')
    await waiting(1)
    await decide('c', { decision: 'reject' }, phone)
    expect(await rejected).toMatchObject({ decision: 'reject' })
  })

  test('a decision about another call than the one that waits changes nothing', async () => {
    const decision = request('a')
    await waiting(1)
    await expect(decide('a', { call_hash: 'of another call' })).rejects.toMatchObject({
      code: 'approval_changed',
    })
    expect(await store.runs.approval(run.id, 'a')).toMatchObject({ status: 'pending' })
    const { call_hash } = active.runLog.pendingApprovals.get('a') ?? {}
    await decide('a', { call_hash })
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
    expect([...active.runLog.entries]).toEqual([])
  })

  test('a call is decided once, and not after the end of its run', async () => {
    void request('a')
    void request('b')
    await waiting(2)
    await decide('a', {})
    await expect(decide('a', { decision: 'reject' })).rejects.toMatchObject({
      code: 'already_decided',
    })
    await expect(decide('unknown', {})).rejects.toMatchObject({ code: 'not_found' })
    await database.write((tx) =>
      store.runs.end(tx, run.id, { status: 'stopped', finishReason: 'stopped', endedAt: now() }),
    )
    await expect(decide('b', {})).rejects.toMatchObject({ code: 'already_decided' })
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
    const grants = async () =>
      (await store.grants.list(run.userId, { limit: 10 })).items.map(({ tool, match, runId }) => ({
        tool,
        match,
        isForRun: runId === run.id,
      }))
    await decide('a', { decision: 'reject', remember: 'conversation' })
    expect(await grants()).toEqual([])
    await decide('b', { remember: 'run' })
    expect(await grants()).toEqual([{ tool: 'send', match: null, isForRun: true }])
    await decide('c', { remember: 'conversation' })
    expect(await grants()).toContainEqual({ tool: 'send', match: null, isForRun: false })
  })

  test('a call that waits for others asks a person whatever was granted, and the project is asked once', async () => {
    const { tool } = countingTool({ name: 'send', riskLevel: 'high' })
    let asked = 0
    const gates = createGates({
      run: { ...run, projectId: ProjectId.parse(crypto.randomUUID()) },
      mode: 'auto',
      taint: {
        isTainted: () => false,
        addresses: { unknown: async () => [], hasHost: async () => true },
      },
      grants: { covering: async () => 'a grant' },
      store: {
        projects: {
          ...store.projects,
          needsOthers: async () => {
            asked += 1
            return true
          },
        },
      },
      retry: (read) => read(),
    })
    expect(await gates.permissionFor({ tool, value: {}, riskLevel: 'high' })).toEqual({
      kind: 'ask',
    })
    expect(asked).toBe(1)
    expect(await gates.permissionFor({ tool, value: {}, riskLevel: 'medium' })).toEqual({
      kind: 'free',
    })
  })
})
