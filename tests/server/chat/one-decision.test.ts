// One decision per call: page, link, notification and deadline decide the same call at the same moment, again and again.
import { describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { hasRedis } from '../../support/store/redis.ts'

const isFull = process.env.FAULTS === 'full'
const ROUNDS = isFull ? 100 : 21
// All of them have to be asked before the first ends.
const DEADLINE_SECONDS = isFull ? 40 : 20
const upstream = await useUpstream()
const { start } = useServers()
const clusters = useClusters()
const config = {
  models: [{ id: 'scripted', api_url: upstream.url }],
  titles: 'off',
  limits: { runs_per_user: ROUNDS },
}

interface Outcome {
  state: string
  statuses: number[]
  results: number
  skipped: boolean
}

/** Decides one call in every way at the moment of its deadline. */
async function decideEverywhere(
  servers: readonly [TestServer, TestServer],
  project: string,
  round: number,
): Promise<Outcome> {
  const [one, other] = servers
  const { json } = await one.call('POST', '/api/conversations', { body: { project_id: project } })
  const stream = await openEvents(`${one.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: `Round ${round}`, approval_deadline: DEADLINE_SECONDS, stream_mode: 'delta' },
  })
  const { data } = await stream.next(({ event }) => event === 'approval_required')
  const { run_id: run, id_ref, approval_id: id, call_hash } = data
  const link = await other.call('POST', `/api/approvals/${id}/link`, { body: {} })
  const { pathname } = new URL(link.json.data.url)
  // Some rounds come before the deadline, some after it.
  const at = Date.parse(data.deadline) - 60 + (round % 7) * 20
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())))
  const page = (server: TestServer, decision: string, more: object = {}) =>
    server.call('POST', `/api/runs/${run}/approvals`, { body: { id_ref, decision, ...more } })
  const byLink = (server: TestServer, decision: string) =>
    server.call('POST', pathname, { body: { decision } })
  const answers = await Promise.all([
    heard(() => page(one, 'approve')),
    heard(() => byLink(other, 'approve')),
    // What a button of a notification sends.
    heard(() => page(other, 'reject', { call_hash })),
    heard(() => byLink(one, 'reject')),
  ])
  const events = await stream.all()
  const results = events.filter(({ data: step }) => step.type === 'tool_result')
  const { json: shown } = await one.call('GET', `/api/approvals/${id}`)
  return {
    state: shown.data.state,
    statuses: answers.map(({ status }) => status),
    results: results.length,
    skipped: results[0]?.data.skipped === true,
  }
}

/** Repeats what a busy database refused with 503, as its answer says. */
async function heard<Answer extends { status: number }>(
  send: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const answer = await send()
    if (answer.status !== 503) return answer
  }
}

async function rounds(servers: readonly [TestServer, TestServer]): Promise<Outcome[]> {
  upstream.program(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role !== 'user') return turn.text('Done.')
    const path = `${String(last.content).replace(/\W+/g, '-').slice(-40)}.txt`
    return turn.toolCalls([{ id: 'call_1', name: 'file_write', arguments: { path, content: 'x' } }])
  })
  const { json } = await servers[0].call('POST', '/api/projects', { body: { name: 'Rounds' } })
  return await Promise.all(
    Array.from({ length: ROUNDS }, (_none, round) =>
      decideEverywhere(servers, json.data.id, round),
    ),
  )
}

function expectOneDecision(outcomes: readonly Outcome[]): void {
  for (const { state, statuses, results, skipped } of outcomes) {
    const taken = statuses.filter((status) => status === 200)
    expect(taken).toHaveLength(state === 'expired' ? 0 : 1)
    expect(['approved', 'rejected', 'expired']).toContain(state)
    const [page, byLink, push, rejectedByLink] = statuses
    for (const status of [page, push]) expect([200, 409]).toContain(status)
    for (const status of [byLink, rejectedByLink]) expect([200, 410]).toContain(status)
    // One effect, and it is that of the decision.
    expect(results).toBe(1)
    expect(skipped).toBe(state !== 'approved')
  }
}

describe.each(DIALECTS)('a call that is decided in every way at once (%s)', (dialect) => {
  test('has one decision and one effect', { timeout: 120_000 }, async () => {
    const server = await start({ config, dialect })
    expectOneDecision(await rounds([server, server]))
  })
})

describe.skipIf(!hasRedis)('a call that is decided in every way at once, at two instances', () => {
  test('has one decision and one effect', { timeout: 120_000 }, async () => {
    const { instances } = await clusters.start(2, config)
    const [one, other] = instances
    if (one === undefined || other === undefined) throw new Error('two were started')
    expectOneDecision(await rounds([one, other]))
  })
})
