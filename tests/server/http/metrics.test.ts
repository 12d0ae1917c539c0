// The metrics of a run, and that the dashboard and the alert rules ask only for metrics that exist.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { type TestServer, useServers } from '../../support/server.ts'
import { turn } from '../../support/upstream-turns.ts'
import { useUpstream } from '../../support/use-upstream.ts'

const upstream = await useUpstream()
const { start } = useServers()
let server: TestServer
let metrics = ''
beforeAll(async () => {
  const price = { input: 1, output: 2, currency: 'EUR' }
  server = await start({
    config: { models: [{ id: 'scripted', api_url: upstream.url, price }], titles: 'off' },
  })
})

test('a run counts with its outcome, tokens, cost, first token and tools', async () => {
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
  ])
    expect(metrics).toContain(`${line}\n`)
  expect(metrics).toMatch(/nanoclaw_cost_total\{model="scripted",currency="EUR"\} 0\.0000\d+/)
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
