// Several tabs act on one conversation over HTTP in random order; checks the invariants that hold after any order.
import { expect } from 'vitest'
import type { Upstream, UpstreamRequest } from '../provider/upstream.ts'
import { turn } from '../provider/upstream-turns.ts'
import { type Random, randomFrom } from '../random.ts'
import { type EventReader, openEvents } from '../server/events.ts'
import type { TestServer } from '../server/server.ts'

/** Scripts the model by the user's latest message: a call that needs approval, a long text or a short one. */
export function playConversation(upstream: Upstream): void {
  let calls = 0
  upstream.program((request: UpstreamRequest) => {
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return turn.text('Done.')
    if (String(last?.content).includes('write')) {
      calls += 1
      const id = `call_${calls}`
      return turn.toolCalls([
        { id, name: 'file_write', arguments: { path: `${id}.txt`, content: 'x' } },
      ])
    }
    const isLong = String(last?.content).includes('long')
    return turn.text(isLong ? 'word '.repeat(40) : 'Short.', isLong ? { delayMs: 2 } : {})
  })
}

const ACTIONS = [
  ...['send', 'send', 'stop', 'stop', 'approve', 'approve', 'reject'],
  ...['edit', 'regenerate', 'resume', 'remove', 'show'],
] as const

interface World {
  server: TestServer
  conversation: string
  random: Random
  /** Every run that started, with the two messages of its turn. */
  runs: Map<string, { question: string; answer: string }>
  /** Runs whose stop was acknowledged and that no tab has tried to resume since. */
  stopped: Set<string>
  /** Incremented when a resume request is sent, and again when its response arrives. */
  resumes: number
  parents: Map<string, string | null>
  removed: Set<string>
  streams: EventReader[]
}

/** Lets `tabs` tabs perform `steps` random actions each, then checks every invariant. */
export async function interleave(
  server: TestServer,
  project: string,
  seed: number,
  { tabs = 3, steps = 6 }: { tabs?: number; steps?: number } = {},
): Promise<void> {
  const random = randomFrom(seed)
  const { json } = await server.call('POST', '/api/conversations', {
    body: { project_id: project },
  })
  const world: World = {
    server,
    conversation: json.data.id,
    random,
    runs: new Map(),
    stopped: new Set(),
    resumes: 0,
    parents: new Map(),
    removed: new Set(),
    streams: [],
  }
  await begin(world, 'POST', 'messages', { text: 'short' })
  await Promise.all(
    Array.from({ length: tabs }, async () => {
      for (let step = 0; step < steps; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, random.below(25)))
        await act(world)
      }
    }),
  )
  for (const runId of world.runs.keys()) await server.call('POST', `/api/runs/${runId}/stop`)
  await check(world)
  for (const stream of world.streams) stream.leave()
}

const pick = <T>(random: Random, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : random.pick(items)

async function begin(
  world: World,
  method: string,
  path: string,
  body: { text?: string },
): Promise<void> {
  const stream = await openEvents(
    `${world.server.url}/api/conversations/${world.conversation}/${path}`,
    { method, body: { ...body, stream_mode: 'delta', on_disconnect: 'continue' } },
  )
  expect([200, 404, 409], `${method} ${path}`).toContain(stream.status)
  if (stream.status !== 200) return
  world.streams.push(stream)
  const { data } = await stream.next(({ event }) => event === 'run')
  world.runs.set(data.run_id, { question: data.user_message_id, answer: data.message_id })
  world.parents.set(data.message_id, data.user_message_id)
}

async function act(world: World): Promise<void> {
  const { server, conversation, random } = world
  const items = await branch(world)
  const runId = pick(random, [...world.runs.keys()].slice(-3))
  const question = pick(
    random,
    items.filter(({ role }) => role === 'user'),
  )
  const post = async (path: string, body: object = {}) => {
    const response = await server.call('POST', `/api/runs/${runId}/${path}`, { body })
    expect([200, 404, 409], path).toContain(response.status)
    return response
  }
  const action = pick(random, ACTIONS)
  switch (action) {
    case 'send':
      return await begin(world, 'POST', 'messages', {
        text: pick(random, ['write', 'long', 'short']) ?? '',
      })
    case 'edit':
      if (question !== undefined)
        await begin(world, 'PATCH', `messages/${question.id}`, { text: 'write again' })
      return
    case 'regenerate':
      if (question !== undefined) await begin(world, 'POST', `regenerate/${question.id}`, {})
      return
    case 'stop': {
      if (runId === undefined) return
      const before = world.resumes
      const { status, json } = await post('stop')
      // If a resume overlapped with this stop, the order of the two is unknown.
      const isLast = before === world.resumes && before % 2 === 0
      if (isLast && status === 200 && json.data.status === 'stopped') world.stopped.add(runId)
      return
    }
    case 'resume':
      if (runId === undefined) return
      // One at a time: an odd count means that one is in flight.
      if (world.resumes % 2 === 1) return
      world.resumes += 1
      world.stopped.delete(runId)
      await post('resume')
      world.resumes += 1
      return
    case 'approve':
    case 'reject': {
      const run = runId === undefined ? null : await server.call('GET', `/api/runs/${runId}`)
      for (const { id_ref } of run?.json.data?.pending_approvals ?? [])
        await post('approvals', { id_ref, decision: action })
      return
    }
    case 'remove': {
      const target = pick(random, items.slice(-3))
      if (target === undefined || random.share() < 0.5) return
      world.removed.add(target.id)
      const path = `/api/conversations/${conversation}/messages/${target.id}`
      expect([200, 404, 409], 'remove').toContain((await server.call('DELETE', path)).status)
      return
    }
    case 'show': {
      const target = pick(random, [...world.parents.keys()])
      if (target === undefined) return
      const { status } = await server.call('PATCH', `/api/conversations/${conversation}`, {
        body: { leaf_id: target },
      })
      expect([200, 404], 'show').toContain(status)
    }
  }
}

/** The shown branch; every message of it hangs on the one before, and the first on nothing. */
async function branch(
  world: World,
): Promise<{ id: string; role: string; parent_id: string | null; status: string }[]> {
  const { json } = await world.server.call(
    'GET',
    `/api/conversations/${world.conversation}/messages?limit=100`,
  )
  const { items, has_more } = json.data
  if (!has_more)
    for (const [at, item] of items.entries())
      expect(item.parent_id, 'each message hangs on the one before').toBe(items[at - 1]?.id ?? null)
  for (const { id, parent_id } of items) world.parents.set(id, parent_id)
  return items
}

const ENDED = ['completed', 'stopped', 'failed', 'interrupted']

async function check(world: World): Promise<void> {
  const { server, conversation, runs, removed, parents } = world
  for (const [runId, { answer }] of runs) {
    const { status, json } = await server.call('GET', `/api/runs/${runId}`)
    if (status === 404) {
      expect(isRemoved(answer, parents, removed), 'only what was deleted is gone').toBe(true)
      continue
    }
    const run = json.data
    expect(ENDED, 'every run has ended').toContain(run.status)
    expect(run.ended_at).not.toBeNull()
    if (world.stopped.has(runId)) expect(run.status, 'stopped stays stopped').toBe('stopped')
    const shown = await server.call('PATCH', `/api/conversations/${conversation}`, {
      body: { leaf_id: answer },
    })
    expect(shown.status, 'the answer of a run is there').toBe(200)
    const message = (await branch(world)).find(({ id }) => id === answer)
    expect(message?.status, 'a message says what its run says').toBe(run.status)
    const replay = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`)
    const terminal = (await replay.all()).filter(({ event }) => ['done', 'error'].includes(event))
    expect(terminal, 'one end').toHaveLength(1)
  }
}

function isRemoved(
  id: string,
  parents: ReadonlyMap<string, string | null>,
  removed: ReadonlySet<string>,
): boolean {
  for (let at: string | null | undefined = id; at != null; at = parents.get(at)) {
    if (removed.has(at)) return true
    // Removed before its parent was ever observed.
    if (!parents.has(at)) return removed.size > 0
  }
  return false
}
