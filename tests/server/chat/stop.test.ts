// Stopping a run: whatever the run is doing, it ends within a second and keeps what has arrived.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chunk, dataLine, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type EventReader, openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

const never = new Promise<void>(() => {})
let server: TestServer
let silentSite: Server
let siteUrl: string
const { start } = useServers()

beforeAll(async () => {
  // A web page that never responds keeps a tool busy until its time limit.
  silentSite = createServer(() => {})
  await new Promise<void>((resolve) => silentSite.listen(0, '127.0.0.1', resolve))
  siteUrl = `http://127.0.0.1:${(silentSite.address() as AddressInfo).port}/`
  server = await start({
    config: {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      network: { allow_private: ['127.0.0.0/8'] },
    },
  })
})
afterAll(async () => {
  silentSite.closeAllConnections()
  silentSite.close()
})

async function send(): Promise<{ id: string; runId: string; stream: EventReader }> {
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  const run = await stream.next(({ event }) => event === 'run')
  return { id: json.data.id, runId: run.data.run_id, stream }
}
const stop = async (runId: string) => await server.call('POST', `/api/runs/${runId}/stop`)
const isDelta =
  (type: string) =>
  ({ event, data }: ReceivedEvent): boolean =>
    event === 'step_delta' && data.type === type

async function expectStopped(sent: Awaited<ReturnType<typeof send>>): Promise<unknown[]> {
  const { json, status } = await stop(sent.runId)
  expect(status).toBe(200)
  expect(json.data).toMatchObject({ status: 'stopped', finish_reason: 'stopped' })
  const events = await sent.stream.all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stopped' } })
  const page = await server.call('GET', `/api/conversations/${sent.id}/messages`)
  const answer = page.json.data.items.at(-1)
  expect(answer.status).toBe('stopped')
  const results = (steps: { type: string }[]) => steps.filter(({ type }) => type === 'tool_result')
  const steps = events.flatMap(({ event, data }) => (event === 'process_step' ? [data] : []))
  expect(results(steps), 'listeners learn of every result that is stored').toEqual(
    results(answer.process_steps),
  )
  return answer.process_steps
}

test('a stop during thinking keeps the thinking and closes the connection to the provider', async () => {
  upstream.enqueue(
    turn.raw([dataLine(chunk({ reasoning_content: 'Let me think' })), { until: never }]),
  )
  const sent = await send()
  const request = await upstream.nextRequest()
  await sent.stream.next(isDelta('thinking'))
  expect(await expectStopped(sent)).toMatchObject([{ type: 'thinking', content: 'Let me think' }])
  expect(await request.closed).toBe('client_left')
})

test('a stop during text keeps the text, and the run can be resumed', async () => {
  upstream.enqueue(turn.raw([dataLine(chunk({ content: 'Half an ' })), { until: never }]))
  const sent = await send()
  await sent.stream.next(isDelta('text'))
  expect(await expectStopped(sent)).toMatchObject([{ type: 'text', content: 'Half an ' }])

  upstream.enqueue(turn.text('answer.'))
  const resumed = await server.call('POST', `/api/runs/${sent.runId}/resume`)
  expect(resumed.status).toBe(200)
  const events = await (await openEvents(`${server.url}/api/runs/${sent.runId}/events`)).all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const page = await server.call('GET', `/api/conversations/${sent.id}/messages`)
  expect(page.json.data.items.at(-1).process_steps).toMatchObject([{ content: 'Half an answer.' }])
})

test('a stop during a tool call aborts the tool, and the conversation continues with a valid history', async () => {
  upstream.enqueue(turn.toolCalls([{ name: 'fetch_page', arguments: { url: siteUrl } }]))
  const sent = await send()
  await sent.stream.next(({ data }) => data.type === 'tool_call')
  await expectStopped(sent)
  upstream.enqueue(turn.text('Fine.'))
  const next = await openEvents(`${server.url}/api/conversations/${sent.id}/messages`, {
    body: { text: 'Then not' },
  })
  expect((await next.all()).at(-1)?.event).toBe('done')
  const roles = upstream.requests.at(-1)?.messages.map(({ role }) => role)
  expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
})

test('a stop during the wait before a retry ends the run', async () => {
  upstream.enqueue(turn.rateLimited(30))
  const sent = await send()
  const request = await upstream.nextRequest()
  await request.closed
  await expectStopped(sent)
})

test('two simultaneous stops and a stop after the end succeed, and a new send starts at once', async () => {
  upstream.enqueue(turn.text('', { until: never }))
  const sent = await send()
  const both = await Promise.all([stop(sent.runId), stop(sent.runId)])
  for (const { status, json } of both) {
    expect(status).toBe(200)
    expect(json.data.status).toBe('stopped')
  }
  upstream.enqueue(turn.text('Here.'))
  const again = await openEvents(`${server.url}/api/conversations/${sent.id}/messages`, {
    body: { text: 'Again' },
  })
  expect((await again.all()).at(-1)).toMatchObject({ event: 'done' })
  expect((await stop(sent.runId)).json.data.status).toBe('stopped')
})

test('stopping a run that does not exist returns 404', async () => {
  expect((await stop('01a00000-0000-7000-8000-000000000000')).status).toBe(404)
})
