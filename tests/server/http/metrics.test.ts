// The metrics and traces of a run, and that the dashboard and the alert rules ask only for metrics that exist.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fastify from 'fastify'
import { Counter, Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import packageJson from '../../../package.json' with { type: 'json' }
import { registerMetrics } from '../../../server/http/stack.ts'
import { createTracing } from '../../../server/observability/tracing.ts'
import { ConversationId, RunId } from '../../../server/protocol/ids.ts'
import { garbageCollector } from '../../support/collect-garbage.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { startCollector } from '../../support/trace-collector.ts'

const upstream = await useUpstream()
const { start } = useServers()
let server: TestServer
let metrics = ''
const collector = await startCollector()
afterAll(() => collector.close())
const headers = { authorization: 'Basic of-the-tests' }
const tracing = { endpoint: collector.url, headers, service_name: 'tests' }
beforeAll(async () => {
  const price = { input: 1, output: 2, currency: 'EUR' }
  server = await start({
    config: { models: [{ id: 'scripted', api_url: upstream.url, price }], titles: 'off', tracing },
  })
})

test('metrics count a run with its outcome, tokens, cost, first token and tools', async () => {
  upstream.enqueue(
    turn.toolCalls([
      { name: 'calculator', arguments: { expression: '2 + 2' } },
      { name: 'calculator', arguments: { expression: '1 / 0' } },
    ]),
    turn.text('Four.'),
  )
  const conversation = await server.call('POST', '/api/conversations', { body: {} })
  const path = `/api/conversations/${conversation.json.data.id}/messages`
  await server.call('POST', path, { body: { text: 'Hello', stream: false } })
  const read = async () => {
    metrics = await (await fetch(`${server.url}/metrics`)).text()
    return metrics
  }
  await expect.poll(read).toContain('nanoclaw_run_seconds_count{outcome="stop"} 1')
  for (const line of [
    'nanoclaw_tokens_total{model="scripted",kind="input"} 20',
    'nanoclaw_model_calls_total{model="scripted"} 2',
    'nanoclaw_first_token_seconds_count{model="scripted"} 1',
    'nanoclaw_tool_seconds_count{tool="calculator",outcome="success"} 1',
    'nanoclaw_tool_seconds_count{tool="calculator",outcome="failure"} 1',
    'nanoclaw_active_runs 0',
    'nanoclaw_waiting_runs 0',
    'nanoclaw_run_listeners 0',
    'nanoclaw_steps_total 5',
    'nanoclaw_queued_runs 0',
    'nanoclaw_lease_lapses_total 0',
    'nanoclaw_lost_attempts_total 0',
    'nanoclaw_store_retries_total 0',
    'nanoclaw_failed_sign_ins_total 0',
    'nanoclaw_failing_webhooks 0',
    'nanoclaw_last_backup_timestamp_seconds 0',
    `nanoclaw_build_info{version="${packageJson.version}"} 1`,
  ])
    expect(metrics).toContain(`${line}\n`)
  for (const folder of ['data', 'workspaces'])
    expect(metrics).toMatch(new RegExp(`nanoclaw_free_bytes\\{folder="${folder}"\\} [1-9]`))
  expect(metrics).toMatch(/nanoclaw_cost_total\{model="scripted",currency="EUR"\} 0\.0000\d+/)
})

test('metrics count a sign-in with a wrong password, and not one that succeeds', async () => {
  const accounts = await start({ config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET } })
  const token = await register(accounts, 'ada')
  const signIn = (password: string) =>
    accounts.call('POST', '/api/auth/login', { body: { username: 'ada', password } })
  expect((await signIn('a good password')).status).toBe(200)
  expect((await signIn('a wrong password')).status).toBe(401)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await (await fetch(`${accounts.url}/metrics`, { headers })).text()
  expect(answer).toContain('nanoclaw_failed_sign_ins_total 1\n')
})

test('a run is one trace of model and tool calls without their texts, and a later attempt is linked to it', async () => {
  await expect.poll(() => collector.spans().length, { timeout: 30_000 }).toBe(5)
  expect(collector.authorizations()).toEqual(['Basic of-the-tests'])
  const [run] = collector.spans().filter(({ parentSpanId }) => !parentSpanId)
  if (run === undefined) throw new Error('every trace has a root')
  const id = RunId.parse(run.attributes['nanoclaw.run.id'])
  const conversationId = ConversationId.parse(run.attributes['gen_ai.conversation.id'])
  expect(run).toMatchObject({
    name: 'invoke_agent NanoClaw',
    traceId: id.replaceAll('-', ''),
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'nanoclaw.run.outcome': 'stop' },
  })
  const children = collector.spans().filter((span) => span !== run)
  for (const { traceId, parentSpanId } of children)
    expect({ traceId, parentSpanId }).toEqual({ traceId: run.traceId, parentSpanId: run.spanId })
  const [first] = children.filter(({ name }) => name === 'chat scripted')
  expect(first?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': '127.0.0.1',
    'gen_ai.response.model': 'scripted',
    'gen_ai.usage.input_tokens': 10,
  })
  const tools = children.filter(({ name }) => name === 'execute_tool calculator')
  expect(tools.map(({ status }) => status.code ?? 0).toSorted()).toEqual([0, 2])
  expect(collector.received()).not.toMatch(/Hello|Four\.|2 \+ 2/)

  const elsewhere = await createTracing({
    endpoint: tracing.endpoint,
    headers: tracing.headers,
    serviceName: tracing.service_name,
    modelUrl: async () => 'https://api.openai.com/v1',
    version: '1.0.0',
    instance: 'another',
    log: { warn: (_details, message) => expect.unreachable(message) },
  })
  const at = new Date()
  elsewhere.observe({
    kind: 'attempt_ended',
    run: { id, attempt: 2, conversationId, parentRunId: null, kind: 'chat', model: 'gpt' },
    startedAt: at,
    endedAt: at,
    entries: [],
    outcome: 'failed',
    reason: 'run_stopped',
  })
  await elsewhere.close()
  expect(collector.spans().at(-1)).toMatchObject({
    traceId: run.traceId,
    status: { code: 2 },
    links: [{ traceId: run.traceId, spanId: run.spanId }],
  })
})

test('servers of one process share the metrics of the process, and one that has ended leaves memory', async () => {
  const collect = garbageCollector()
  /** Serves metrics once. Nothing but the returned reference is left of it. */
  const serve = async (name: string): Promise<WeakRef<Registry>> => {
    const registry = new Registry()
    new Counter({ name, help: 'Of this server.', registers: [registry] })
    const app = fastify()
    registerMetrics(app, '1.2.3', registry)
    const { body } = await app.inject('/metrics')
    expect(body).toContain(`${name} 0\n`)
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m)
    expect(body).toMatch(/^process_cpu_seconds_total \d/m)
    await app.close()
    return new WeakRef(registry)
  }
  const served = [await serve('first'), await serve('second'), await serve('third')]
  // What a process did last may still be referred to.
  await expect
    .poll(() => {
      collect()
      return served.slice(0, -1).filter((registry) => registry.deref() !== undefined).length
    })
    .toBe(0)
})

const file = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../../../deploy', name), 'utf8')

test('the dashboard and the alert rules use metrics that exist', () => {
  const dashboard = z
    .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })
    .parse(JSON.parse(file('grafana-dashboard.json')))
  const alerts = z
    .object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })
    .parse(parse(file('prometheus-alerts.yml')))
  const expressions = [
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ]
  const names = new Set(
    expressions.flatMap((text) => text.match(/\b(?:nanoclaw|nodejs|process)_\w+/g) ?? []),
  )
  expect(names.size).toBeGreaterThan(10)
  const served = new Set([...metrics.matchAll(/^([a-z]\w*)[ {]/gm)].map(([, name]) => name))
  expect([...names].filter((name) => !served.has(name))).toEqual([])
})
