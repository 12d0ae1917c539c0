// Sends, page reads, stops, restarts and decisions in random order: no write that needs approval runs without it.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  fetchCall,
  HOSTILE,
  outsideConfiguration,
  writeCall,
} from '../support/faults/outside-actor.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../support/provider/upstream.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import { type Random, rounds, SEED } from '../support/random.ts'
import { type EventReader, openEvents } from '../support/server/events.ts'
import { databaseKeys, type TestServer, useServers } from '../support/server/server.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { startWebSite, type WebSite } from '../support/web-site.ts'

/** `npm run test:faults` runs the long form, `npm test` a short one. */
const ROUNDS = process.env.FAULTS === 'full' ? 40 : 3
const STEPS = 10

let upstream: Upstream
let site: WebSite
beforeAll(async () => {
  upstream = await startUpstream()
  site = await startWebSite()
  site.serve('/page', 'text/plain', HOSTILE)
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await site.close()
  await upstream.close()
})

/** What the model does for a message, one word per iteration; `agent:` and `spawn:` pass the rest on as a task. */
const PLANS = [
  ...['read', 'read,write', 'write', 'write', 'write,read,write', 'both'],
  ...['agent:read,write', 'agent:read', 'spawn:read,write', 'spawn:write'],
]

/** The reference model of the test: which writes may happen without approval. */
interface Expected {
  /** Whether any run of this conversation has shown text from outside to the model. */
  shown: boolean
  /** Numbers of the messages that were sent, or whose runs were resumed, after that. */
  late: Set<number>
  /** Paths that must not exist unless they are in `approved`. */
  guarded: Set<string>
  approved: Set<string>
}

/** Scripts the model to follow the plan in the latest message, and updates `expected` from what the model is shown. */
function playPlans(expected: Expected): void {
  let calls = 0
  upstream.program((request: UpstreamRequest): Turn => {
    const isShown = JSON.stringify(request.messages).includes(HOSTILE)
    expected.shown ||= isShown
    const asked = request.messages.findLastIndex(
      ({ role, content }) => role === 'user' && /#\d+ /.test(String(content)),
    )
    const [, number = '0', plan = ''] =
      /#(\d+) (\S+)$/.exec(String(request.messages[asked]?.content)) ?? []
    const done = request.messages
      .slice(asked)
      .filter(({ role, tool_calls }) => role === 'assistant' && tool_calls !== undefined).length
    calls += 1
    const path = `w${calls}.txt`
    const write = () => {
      if (isShown || expected.late.has(Number(number))) expected.guarded.add(path)
      return writeCall(path)
    }
    const [who, task] = plan.split(':')
    const word = task === undefined ? plan.split(',')[done] : done === 0 ? who : undefined
    switch (word) {
      case 'read':
        return turn.toolCalls([fetchCall(site, '/page')])
      case 'both':
        return turn.toolCalls([fetchCall(site, '/page'), write()])
      case 'write':
        return turn.toolCalls([write()])
      case 'agent':
        return turn.toolCalls([
          {
            name: 'multi_agent',
            arguments: { tasks: [{ name: 'a', instruction: `#${number} ${task}` }] },
          },
        ])
      case 'spawn':
        return turn.toolCalls([{ name: 'spawn', arguments: { task: `#${number} ${task}` } }])
      default:
        return turn.text('Done.')
    }
  })
}

/** Performs random actions in one conversation with the approval mode `auto_medium`. */
async function storm(
  random: Random,
  what: string,
  server: () => TestServer,
  restart: () => Promise<void>,
): Promise<void> {
  const expected: Expected = {
    shown: false,
    late: new Set(),
    guarded: new Set(),
    approved: new Set(),
  }
  upstream.reset()
  playPlans(expected)
  const call = async (method: string, path: string, body?: unknown) =>
    (await server().call(method, path, body === undefined ? {} : { body })).json.data
  const project = (await call('POST', '/api/projects', { name: what })).id
  const conversation = (
    await call('POST', '/api/conversations', { project_id: project, approval: 'auto_medium' })
  ).id
  const streams: EventReader[] = []
  let sent = 0

  const activeRuns = async (): Promise<string[]> => {
    const { active_run_id } = await call('GET', `/api/conversations/${conversation}`)
    const { items } = await call('GET', `/api/conversations/${conversation}/background`)
    const tasks = items.map(({ id }: { id: string }) => id)
    return active_run_id === null ? tasks : [active_run_id, ...tasks]
  }
  const decide = async (decision: 'approve' | 'reject'): Promise<void> => {
    for (const id of await activeRuns()) {
      const { pending_approvals: pending = [] } = await call('GET', `/api/runs/${id}`)
      for (const { id_ref, arguments: args } of pending) {
        if (decision === 'approve') expected.approved.add(JSON.parse(args).path)
        await call('POST', `/api/runs/${id}/approvals`, { id_ref, decision })
      }
    }
  }
  const act = async (): Promise<void> => {
    switch (random.pick(['send', 'send', 'send', 'stop', 'approve', 'reject', 'restart'])) {
      case 'send': {
        sent += 1
        if (expected.shown) expected.late.add(sent)
        const stream = await openEvents(
          `${server().url}/api/conversations/${conversation}/messages`,
          {
            body: {
              text: `#${sent} ${random.pick(PLANS)}`,
              stream_mode: 'delta',
              on_disconnect: 'continue',
            },
          },
        )
        if (stream.status !== 200) return
        streams.push(stream)
        // Follows the run to a random point, or until it waits for approval.
        const wanted = 2 + random.below(14)
        await stream.next(
          ({ event }) =>
            ['done', 'error', 'approval_required'].includes(event) ||
            stream.events.length >= wanted,
        )
        return
      }
      case 'stop':
        for (const id of await activeRuns())
          if (random.share() < 0.7) await call('POST', `/api/runs/${id}/stop`)
        return
      case 'approve':
        return await decide('approve')
      case 'reject':
        return await decide('reject')
      case 'restart': {
        if (random.share() < 0.5) return
        const { shown } = expected
        await restart()
        if (shown) for (let at = 1; at <= sent; at += 1) expected.late.add(at)
        return
      }
    }
  }
  for (let step = 0; step < STEPS; step += 1) {
    await act()
  }
  for (const id of await activeRuns()) await call('POST', `/api/runs/${id}/stop`)
  for (const stream of streams) stream.leave()
  const { files } = await call('GET', `/api/projects/${project}/files`)
  const there = files.map(({ name }: { name: string }) => name)
  const unasked = there.filter(
    (name: string) => expected.guarded.has(name) && !expected.approved.has(name),
  )
  expect(unasked, `${what} repeats it`).toEqual([])
}

for (const dialect of DIALECTS)
  describe(`text from outside and two simultaneous actors (${dialect})`, () => {
    const databases = useDatabases()
    const { start } = useServers()

    test(`in any order, no write runs without approval after a page was read (SEED=${SEED})`, {
      timeout: 3_600_000,
    }, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-outside-'))
      const config = {
        ...databaseKeys(await databases.settings(dialect)),
        ...outsideConfiguration(upstream),
        shutdown_grace: 0,
      }
      let server = await start({ config, folder, dialect })
      const restart = async (): Promise<void> => {
        await server.close()
        server = await start({ config, folder, dialect })
      }
      for (const { random, what } of rounds(ROUNDS))
        await storm(random, what, () => server, restart)
    })
  })
