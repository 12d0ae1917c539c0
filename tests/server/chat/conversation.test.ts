// A conversation over HTTP with a scripted model: what is streamed is what is stored.
import { beforeAll, expect, test } from 'vitest'
import { applyRunEvent } from '../../../server/protocol/runs/apply-run-event.ts'
import type { Step } from '../../../server/protocol/runs/step.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

const stepsOf = (events: readonly ReceivedEvent[]): readonly Step[] =>
  events.reduce<readonly Step[]>((steps, { event, data }) => {
    if (event === 'process_step') return applyRunEvent(steps, { event, step: data })
    if (event === 'step_delta') return applyRunEvent(steps, { event, ...data })
    return steps
  }, [])

describeOnEachServer('a conversation', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
    })
  })

  async function newConversation(settings: object = {}): Promise<string> {
    const { json } = await server.call('POST', '/api/conversations', { body: settings })
    return json.data.id
  }
  const send = (id: string, body: object) =>
    openEvents(`${server.url}/api/conversations/${id}/messages`, { body })
  const messages = async (id: string) =>
    (await server.call('GET', `/api/conversations/${id}/messages`)).json.data.items

  test('an answer with thinking and a tool call is stored as it was streamed, in both modes', async () => {
    for (const stream_mode of ['delta', 'cumulative']) {
      upstream.enqueue(
        turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
          thinking: 'I should calculate.',
        }),
        turn.text('It is 42.'),
      )
      const id = await newConversation()
      const stream = await send(id, { text: 'What is 6*7?', stream_mode })
      expect(stream.status).toBe(200)
      expect(stream.headers.get('content-type')).toContain('text/event-stream')
      const events = await stream.all()
      expect(events[0]?.event).toBe('run')
      expect(events.at(-1)?.event).toBe('done')
      const ids = events.map((event) => event.id)
      expect(ids).toEqual([...ids].sort((a, b) => a - b))
      const steps = stepsOf(events)
      expect(steps.map(({ type }) => type)).toEqual([
        'thinking',
        'tool_call',
        'tool_result',
        'text',
      ])
      expect(JSON.parse((steps[2] as { content: string }).content)).toMatchObject({
        success: true,
        data: { result: 42 },
      })
      const [question, answer] = await messages(id)
      expect(question).toMatchObject({ role: 'user', text: 'What is 6*7?' })
      expect(answer).toMatchObject({ role: 'assistant', text: 'It is 42.', status: 'completed' })
      expect(answer.process_steps).toEqual(steps)
      expect(answer.id).toBe(events.at(-1)?.data.message_id)
      upstream.expectDone()
    }
  })

  test('history sent to the model keeps calls and results in valid order', async () => {
    upstream.enqueue(
      turn.toolCalls([{ id: 'call_a', name: 'calculator', arguments: { expression: '1+1' } }]),
      turn.text('Two.'),
      turn.text('Still two.'),
    )
    const id = await newConversation()
    await (await send(id, { text: 'One and one?' })).all()
    await (await send(id, { text: 'Sure?' })).all()
    const last = upstream.requests.at(-1)
    expect(last?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(last?.messages[2]?.tool_calls?.[0]?.id).toBe(last?.messages[3]?.tool_call_id)
  })

  test('stream: false returns one response when the run has ended', async () => {
    upstream.enqueue(turn.text('Hello.'))
    const id = await newConversation()
    const { status, json } = await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Hi', stream: false },
    })
    expect(status).toBe(200)
    expect(json.data.message).toMatchObject({ text: 'Hello.', status: 'completed' })
    expect(json.data.run).toMatchObject({ status: 'completed', finish_reason: 'stop' })
  })

  test('a second send while a run is active returns 409 with its id', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('Slow.', { until: gate }))
    const id = await newConversation()
    const first = await send(id, { text: 'One' })
    const run = await first.next(({ event }) => event === 'run')
    const second = await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Two' },
    })
    expect(second.status).toBe(409)
    expect(second.json.details).toMatchObject({ run_id: run.data.run_id })
    release()
    expect((await first.all()).at(-1)?.event).toBe('done')
  })

  test('a send with the same client_id joins the existing run, while it is active and afterwards', async () => {
    upstream.enqueue(turn.text('Once.'))
    const id = await newConversation()
    const body = { text: 'Only once', client_id: 'mine-1', stream_mode: 'delta' }
    const streams = await Promise.all(Array.from({ length: 10 }, () => send(id, body)))
    expect(
      streams.map(({ status }) => status),
      server.logged(),
    ).toEqual(Array(10).fill(200))
    const all = await Promise.all(streams.map((stream) => stream.all()))
    const later = await (await send(id, body)).all()
    for (const events of [...all, later]) expect(stepsOf(events)).toEqual(stepsOf(all[0] ?? []))
    expect(new Set([...all, later].map((events) => events[0]?.data.run_id)).size).toBe(1)
    expect(await messages(id)).toHaveLength(2)
    upstream.expectDone()
  })

  test('a client that disconnects does not stop the run and finds the answer when it returns', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('All of it.', { until: gate }))
    const id = await newConversation()
    const stream = await send(id, { text: 'Go on without me', stream_mode: 'delta' })
    const run = await stream.next(({ event }) => event === 'run')
    stream.leave()
    release()
    const back = await openEvents(
      `${server.url}/api/runs/${run.data.run_id}/events?stream_mode=delta`,
      { headers: { 'last-event-id': String(run.id) } },
    )
    const events = await back.all()
    expect(events.at(-1)?.event).toBe('done')
    expect(stepsOf(events)).toMatchObject([{ type: 'text', content: 'All of it.' }])
  })

  test('on_disconnect: stop closes the connection to the provider when the client disconnects', async () => {
    upstream.enqueue(turn.text('Never ends', { until: new Promise(() => {}) }))
    const id = await newConversation()
    const stream = await send(id, { text: 'Hi', on_disconnect: 'stop' })
    const request = await upstream.nextRequest()
    stream.leave()
    expect(await request.closed).toBe('client_left')
    await expect.poll(async () => (await messages(id)).at(-1).status).toBe('stopped')
  })

  test('a stop ends the run before the first token, and a second stop has no effect', async () => {
    upstream.enqueue(turn.text('', { until: new Promise(() => {}) }))
    const id = await newConversation()
    const stream = await send(id, { text: 'Hi' })
    const run = await stream.next(({ event }) => event === 'run')
    const request = await upstream.nextRequest()
    const stopped = await server.call('POST', `/api/runs/${run.data.run_id}/stop`)
    expect(stopped.json.data).toMatchObject({ status: 'stopped', finish_reason: 'stopped' })
    expect(await request.closed).toBe('client_left')
    expect((await stream.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    const again = await server.call('POST', `/api/runs/${run.data.run_id}/stop`)
    expect(again.status).toBe(200)
    upstream.enqueue(turn.text('Here.'))
    expect((await (await send(id, { text: 'Again' })).all()).at(-1)?.event).toBe('done')
  })

  test('regenerating and editing create siblings, and the new branch is shown', async () => {
    upstream.enqueue(turn.text('First.'), turn.text('Second.'), turn.text('Third.'))
    const id = await newConversation()
    await (await send(id, { text: 'Question' })).all()
    const [question, answer] = await messages(id)
    const again = await openEvents(
      `${server.url}/api/conversations/${id}/regenerate/${answer.id}`,
      { body: {} },
    )
    await again.all()
    const shown = await messages(id)
    expect(shown.at(-1).text).toBe('Second.')
    expect(shown.at(-1).siblings).toEqual([answer.id, shown.at(-1).id])
    const edited = await openEvents(
      `${server.url}/api/conversations/${id}/messages/${question.id}`,
      { method: 'PATCH', body: { text: 'Other question' } },
    )
    await edited.all()
    const branch = await messages(id)
    expect(branch.map(({ text }: { text: string }) => text)).toEqual(['Other question', 'Third.'])
    expect(branch[0].siblings).toEqual([question.id, branch[0].id])
    await server.call('PATCH', `/api/conversations/${id}`, { body: { leaf_id: answer.id } })
    expect((await messages(id)).at(-1).text).toBe('First.')
  })

  test('at max_iterations the model answers once more without tools, and the run can be resumed', async () => {
    const limited = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      max_iterations: 2,
    })
    const call = (expression: string) =>
      turn.toolCalls([{ name: 'calculator', arguments: { expression } }])
    upstream.enqueue(call('1+1'), call('2+2'), turn.text('Enough.'))
    const created = await limited.call('POST', '/api/conversations', { body: {} })
    const url = `${limited.url}/api/conversations/${created.json.data.id}/messages`
    const events = await (await openEvents(url, { body: { text: 'Go' } })).all()
    expect(events.at(-1)?.data).toMatchObject({ finish_reason: 'max_iterations' })
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('tools')
    upstream.enqueue(turn.text(' And more.'))
    const runId = events[0]?.data.run_id
    expect((await limited.call('POST', `/api/runs/${runId}/resume`)).status).toBe(200)
    const more = await (await openEvents(`${limited.url}/api/runs/${runId}/events`)).all()
    expect(more.at(-1)?.data).toMatchObject({ finish_reason: 'stop' })
    expect((await limited.call('POST', `/api/runs/${runId}/resume`)).status).toBe(409)
  })

  test('a provider failure is one error event without secrets, and the answer is marked as failed', async () => {
    upstream.enqueue(turn.error(401))
    const id = await newConversation()
    const events = await (await send(id, { text: 'Hi' })).all()
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { code: 'model_unauthorized' } })
    expect(JSON.stringify(events)).not.toContain('key-of-the-tests')
    expect((await messages(id)).at(-1)).toMatchObject({ status: 'failed' })
    // A response of the provider has no other cause.
    expect(server.logged()).toContain('a run failed')
    expect(server.logged()).not.toContain('"cause":"undefined"')
  })

  test('tokens are summed over the iterations and added to the usage', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '3*3' } }], { usage }),
      turn.text('Nine.', { usage }),
    )
    const before = (await server.call('GET', '/api/stats/tokens?period=daily')).json.data
    const id = await newConversation()
    const events = await (await send(id, { text: 'Three times three?' })).all()
    expect(events.at(-1)?.data).toMatchObject({ token_count: 10, usage: { total_tokens: 30 } })
    const after = (await server.call('GET', '/api/stats/tokens?period=daily')).json.data
    expect(after.total_tokens - before.total_tokens).toBe(30)
  })

  test('bad input returns 4xx and stores nothing', async () => {
    const id = await newConversation()
    const post = async (body: unknown) =>
      (await server.call('POST', `/api/conversations/${id}/messages`, { body })).status
    expect(await post({})).toBe(400)
    expect(await post({ text: 5 })).toBe(400)
    expect(await post({ text: 'x'.repeat(200_001) })).toBe(400)
    expect(await post({ text: 'hi', model: 'no-such-model' })).toBe(400)
    expect(await post({ text: 'hi', project_id: 'nobodys' })).toBe(404)
    expect(await post({ text: 'hi', parent_id: 'nobodys' })).toBe(404)
    expect(await post({ text: 'hi', attachments: [{ name: 'a.bin', content: 'a\u0000b' }] })).toBe(
      400,
    )
    expect(await post('{"text":')).toBe(400)
    expect(await messages(id)).toEqual([])
  })
})
