// Responses through the official `openai` package: durable runs that can be fetched, streamed again, cancelled, continued.
import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const calculator = { name: 'calculator', arguments: { expression: '2 + 2' } }
const thermometer: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'thermometer',
  description: 'Reads the thermometer on the wall.',
  parameters: { type: 'object', properties: {} },
  strict: false,
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events = []
  for await (const event of stream) events.push(event)
  return events
}
const typesOf = (events: readonly ResponseStreamEvent[]) => events.map(({ type }) => type)

describeOnEachServer('responses', (start) => {
  let server: TestServer
  let client: OpenAI
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, thinking: true }],
      titles: 'off',
    })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
  })

  test('a stream has the complete sequence of events, numbered, and the same one again afterwards', async () => {
    upstream.enqueue(
      turn.toolCalls([calculator]),
      turn.thinking('Easy.', 'Four.', {
        chunkSize: 9,
        usage: {
          prompt_tokens: 10,
          completion_tokens: 7,
          total_tokens: 17,
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      }),
    )
    const events = await collect(
      await client.responses.create({ model, input: 'How much is 2 + 2?', stream: true }),
    )
    const types = typesOf(events)
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('no end')
    const { response } = last
    expect(response).toMatchObject({
      status: 'completed',
      usage: { input_tokens: 20, output_tokens_details: { reasoning_tokens: 5 } },
    })
    expect(response.output).toMatchObject([
      { type: 'mcp_call', name: 'calculator', status: 'completed', error: null },
      { type: 'reasoning', summary: [{ text: 'Easy.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Four.' }] },
    ])
    const fetched = await client.responses.retrieve(response.id)
    expect(fetched.output).toEqual(response.output)
    expect(fetched.usage).toEqual(response.usage)
    const again = await collect(
      await client.responses.retrieve(response.id, { stream: true, starting_after: 6 }),
    )
    const withoutEnds = (list: ResponseStreamEvent[]) =>
      list.filter(({ type }) => type !== 'response.completed')
    expect(withoutEnds(again)).toEqual(withoutEnds(events.slice(7)))
    const run = await server.call('GET', `/api/runs/${response.id}`)
    expect(run.json.data.status).toBe('completed')
  })

  test("a conversation continues from a response through a call of the program's tool", async () => {
    upstream.enqueue(turn.toolCalls([{ id: 't1', name: 'thermometer', arguments: {} }]))
    const first = await client.responses.create({
      model,
      input: 'How warm is it?',
      instructions: 'Be brief.',
      tools: [thermometer],
    })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const without = client.responses.create({ model, input: 'So?', previous_response_id: first.id })
    await expect(without).rejects.toMatchObject({ status: 400, code: 'client_result_missing' })
    upstream.enqueue(turn.text('21 degrees.'))
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: '21 °C' }],
    })
    expect(second.output_text).toBe('21 degrees.')
    expect(second.previous_response_id).toBe(first.id)
    upstream.enqueue(turn.text('Mild.'))
    const third = await client.responses.create({
      model,
      previous_response_id: second.id,
      input: 'Is that warm?',
    })
    expect(third.output_text).toBe('Mild.')
    expect(upstream.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'How warm is it?' },
      { role: 'assistant', tool_calls: [{ id: 't1' }] },
      { role: 'tool', content: '21 °C' },
      { role: 'assistant', content: '21 degrees.' },
      { role: 'user', content: 'Is that warm?' },
    ])
  })

  test('a program that continues a conversation of the page replaces its settings for one answer and changes none of them', async () => {
    const settings = { system_prompt: 'Speak like a pirate.', temperature: 0.3, max_tokens: 1234 }
    const created = await server.call('POST', '/api/conversations', { body: settings })
    const path = `/api/conversations/${created.json.data.id}`
    upstream.enqueue(turn.text('Arr.'))
    const sent = await server.call('POST', `${path}/messages`, {
      body: { text: 'Hello', stream: false },
    })
    const stored = async () => (await server.call('GET', path)).json.data
    const first = (await server.call('GET', '/api/runs')).json.data.items[0].id
    expect(sent.status).toBe(200)
    await expect(
      client.responses.create({
        model,
        previous_response_id: first,
        instructions: 'Refused.',
        input: [{ type: 'function_call_output', call_id: `${first}_x`, output: 'x' }],
      }),
    ).rejects.toMatchObject({ status: 400 })
    expect(await stored()).toMatchObject(settings)
    upstream.enqueue(turn.text('Good day.'), turn.text('Arr again.'))
    const second = await client.responses.create({
      model,
      previous_response_id: first,
      instructions: 'Be formal.',
      temperature: 1.5,
      input: 'And now?',
    })
    const formal = upstream.requests.at(-1)
    expect(JSON.stringify(formal?.messages[0])).toContain('Be formal.')
    expect(JSON.stringify(formal?.messages[0])).not.toContain('pirate')
    expect(formal?.body).toMatchObject({ temperature: 1.5, max_tokens: 1234 })
    await client.responses.create({ model, previous_response_id: second.id, input: 'Again?' })
    const own = upstream.requests.at(-1)
    expect(JSON.stringify(own?.messages[0])).toContain('pirate')
    expect(own?.body).toMatchObject({ temperature: 0.3, max_tokens: 1234 })
    expect(await stored()).toMatchObject(settings)
  })

  test('instructions apply to the response that they were sent for, not to the ones that continue it', async () => {
    upstream.enqueue(turn.text('Blue.'), turn.text('Yes.'), turn.text('No.'))
    let id = (await client.responses.create({ model, input: 'Colour?', instructions: 'Rhyme.' })).id
    expect(JSON.stringify(upstream.requests.at(-1)?.messages[0])).toContain('Rhyme.')
    for (const input of ['Sure?', 'Really?']) {
      id = (await client.responses.create({ model, input, previous_response_id: id })).id
      expect(JSON.stringify(upstream.requests.at(-1)?.messages[0])).not.toContain('Rhyme.')
    }
  })

  test('a background response continues without a listener, can be followed from any event and can be cancelled', async () => {
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('Done at last.', { until, chunkSize: 20 }))
    const started = await client.responses.create({
      model,
      input: 'Take your time',
      background: true,
    })
    expect(started).toMatchObject({ status: 'in_progress', background: true, output: [] })
    const following = client.responses
      .retrieve(started.id, { stream: true, starting_after: 1 })
      .then(collect)
    release()
    const events = await following
    expect(events[0]).toMatchObject({ type: 'response.output_item.added', sequence_number: 2 })
    expect(events.at(-1)?.type).toBe('response.completed')

    upstream.enqueue(turn.text('Never.', { until: new Promise(() => {}) }))
    const endless = await client.responses.create({ model, input: 'Wait', background: true })
    const cancelled = await client.responses.cancel(endless.id)
    expect(cancelled.status).toBe('cancelled')
    expect((await client.responses.retrieve(endless.id)).status).toBe('cancelled')
  })

  test('a response lists what it answers, and a deleted one is gone', async () => {
    upstream.enqueue(turn.text('One.'), turn.text('Two.'))
    const first = await client.responses.create({ model, input: 'First?' })
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: 'Second?',
    })
    const { data } = await client.responses.inputItems.list(second.id)
    expect(data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Second?' }] },
    ])
    await client.responses.delete(second.id)
    await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 })
    expect((await client.responses.retrieve(first.id)).output_text).toBe('One.')
  })

  test('a long conversation is listed in pages that end', async () => {
    const input = Array.from({ length: 120 }, (_, at) => [
      { role: 'user' as const, content: `Question ${at}` },
      { role: 'assistant' as const, content: `Answer ${at}` },
    ]).flat()
    upstream.enqueue(turn.text('Last.'))
    const { id } = await client.responses.create({
      model,
      input: [...input, { role: 'user', content: 'The last question' }],
    })
    const ids: string[] = []
    for await (const item of client.responses.inputItems.list(id)) {
      ids.push(String(item.id))
      if (ids.length > 1_000) break
    }
    expect(ids).toHaveLength(241)
    expect(new Set(ids).size).toBe(241)
    await expect(client.responses.inputItems.list(id, { after: 'none' })).rejects.toMatchObject({
      status: 404,
    })
  })

  test('a failed response gives the reason also afterwards, and an unknown one returns 404', async () => {
    upstream.enqueue(turn.error(422, 'The field x is unknown.'))
    const started = await client.responses.create({ model, input: 'Hello', background: true })
    const failed = () => client.responses.retrieve(started.id)
    await expect.poll(async () => (await failed()).status).toBe('failed')
    expect(await failed()).toMatchObject({ error: { code: 'model_refused' } })
    const events = await collect(await client.responses.retrieve(started.id, { stream: true }))
    expect(typesOf(events)).toEqual(['response.created', 'response.in_progress', 'response.failed'])
    await expect(client.responses.retrieve('none')).rejects.toMatchObject({
      status: 404,
      code: 'response_not_found',
    })
  })
})
