// Chat completions through the official `openai` package: the agent with its tools behind the format that programs know.
import OpenAI, { AuthenticationError, NotFoundError } from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const upstream = await useUpstream()
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const MODEL = 'nanoclaw/scripted'
const weather = {
  type: 'function' as const,
  function: {
    name: 'thermometer',
    description: 'Reads the thermometer on the wall.',
    parameters: { type: 'object', properties: { room: { type: 'string' } } },
  },
}

describeOnEachServer('chat completions', (start) => {
  let server: TestServer
  let client: OpenAI
  let key = ''
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, vision: true, thinking: true }],
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    })
    const token = await register(server, 'caller')
    const { json } = await server.call('POST', '/api/auth/keys', { token, body: { name: 'tests' } })
    key = json.data.key
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries: 0 })
  })
  const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'How much is 2 + 2?' }] }
  const calculator = { name: 'calculator', arguments: { expression: '2 + 2' } }

  test('models are listed and found by their names', async () => {
    const { data } = await client.models.list()
    expect(data).toMatchObject([{ id: MODEL, object: 'model', owned_by: 'nanoclaw' }])
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, vision: true })
    await expect(client.models.retrieve('nanoclaw/none')).rejects.toThrow(NotFoundError)
  })

  test('an answer that needs a server tool is returned complete, with the usage of all model calls', async () => {
    upstream.enqueue(
      turn.toolCalls([calculator], { text: 'Let me see.' }),
      turn.thinking('Easy.', 'It is 4.'),
    )
    const completion = await client.chat.completions.create({
      ...ask,
      messages: [{ role: 'system', content: 'Be brief.' }, ...ask.messages],
      temperature: 0.5,
      max_completion_tokens: 500,
    })
    expect(completion.choices).toMatchObject([
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: 'Let me see.\n\nIt is 4.',
          reasoning_content: 'Easy.',
        },
      },
    ])
    expect(completion.usage).toMatchObject({ prompt_tokens: 20 })
    expect(completion.choices[0]?.message.tool_calls).toBeUndefined()
    const [first, second] = [await upstream.nextRequest(), await upstream.nextRequest()]
    expect(first.body).toMatchObject({ temperature: 0.5, max_tokens: 500 })
    expect(first.messages[0]?.content).toContain('Be brief.')
    expect(second.messages.at(-1)).toMatchObject({ role: 'tool' })
    expect(second.messages.at(-1)?.content).toContain('4')
    const { json } = await server.call('GET', '/api/conversations', { token: key })
    expect(json.data.items).toEqual([])
  })

  test('a stream begins with the role, ends with a finish reason, the usage and [DONE]', async () => {
    upstream.enqueue(turn.toolCalls([calculator]), turn.thinking('Easy.', 'It is 4, of course.'))
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(text).toBe('It is 4, of course.')
    expect(chunks.at(-2)?.choices).toMatchObject([{ delta: {}, finish_reason: 'stop' }])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 20 } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test("a call of the program's tool ends the response after the server's calls have run, and its result continues the answer", async () => {
    upstream.enqueue(
      turn.toolCalls([calculator, { id: 'c1', name: 'thermometer', arguments: { room: 'hall' } }]),
    )
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'How warm is it, and how much is 2 + 2?' },
    ]
    const first = await client.chat.completions.create({
      model: `${MODEL}:tools`,
      messages,
      tools: [weather],
    })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null },
    })
    const [call, ...others] = first.choices[0]?.message.tool_calls ?? []
    expect(others).toEqual([])
    expect(call).toMatchObject({
      function: { name: 'thermometer', arguments: '{"room":"hall"}' },
    })
    if (first.choices[0] === undefined || call === undefined) throw new Error('no call')
    upstream.enqueue(turn.text('21 degrees, and 4.'))
    const second = await client.chat.completions.create({
      model: `${MODEL}:tools`,
      tools: [weather],
      messages: [
        ...messages,
        first.choices[0].message,
        { role: 'tool', tool_call_id: call.id, content: '21 °C' },
      ],
    })
    expect(second.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: '21 degrees, and 4.' },
    })
    const request = upstream.requests.at(-1)
    // The result of the server's own call is there too, although the program never saw it.
    expect(request?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ])
    expect(request?.messages.at(-2)?.content).toContain('"result":4')
    expect(request?.messages.at(-1)?.content).toBe('21 °C')
  })

  test('a conversation stored by the program reaches the model with its calls and images', async () => {
    upstream.enqueue(turn.text('A pixel.'))
    await client.chat.completions.create({
      model: MODEL,
      tools: [weather],
      messages: [
        { role: 'user', content: 'Warm?' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'x1', type: 'function', function: { name: 'thermometer', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'x1', content: '20' },
        { role: 'assistant', content: 'Yes.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
          ],
        },
      ],
    })
    const request = upstream.requests.at(-1)
    expect(request?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'Warm?' },
      { role: 'assistant', tool_calls: [{ id: 'x1' }] },
      { role: 'tool', tool_call_id: 'x1', content: '20' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] },
    ])
  })

  test('a call that needs approval fails with a text for the model, unless the caller waits for a person', async () => {
    const write = { id: 'w1', name: 'file_write', arguments: { path: 'a.txt', content: 'a' } }
    const token = key
    const created = await server.call('POST', '/api/projects', { token, body: { name: 'Files' } })
    const inProject = { ...ask, nanoclaw: { project_id: created.json.data.id } }
    upstream.enqueue(turn.toolCalls([write]), turn.text('I may not write.'))
    await client.chat.completions.create(inProject)
    expect(upstream.requests.at(-1)?.messages.at(-1)?.content).toContain(
      'needs the approval of a person',
    )

    upstream.enqueue(turn.toolCalls([{ ...write, id: 'w2' }]), turn.text('Not written.'))
    const { data: stream, response } = await client.chat.completions
      .create({ ...inProject, stream: true }, { headers: { 'X-NanoClaw-Approval': 'wait' } })
      .withResponse()
    const run = `/api/runs/${response.headers.get('x-nanoclaw-run-id')}`
    const state = async () => (await server.call('GET', run, { token })).json.data.status
    await expect.poll(state).toBe('awaiting_approval')
    await server.call('POST', `${run}/approvals`, {
      token,
      body: { id_ref: 'w2', decision: 'reject' },
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Not written.')
    const { json } = await server.call('GET', '/api/conversations', { token })
    expect(json.data.items).toMatchObject([{ title: 'How much is 2 + 2?' }])
  })

  test('errors have the form and the status that the client knows', async () => {
    const wrong = new OpenAI({ baseURL: client.baseURL, apiKey: 'nc-wrong', maxRetries: 0 })
    await expect(wrong.models.list()).rejects.toThrow(AuthenticationError)
    const elsewhere = new OpenAI({ baseURL: client.baseURL, apiKey: 'sk-proj-1', maxRetries: 0 })
    await expect(elsewhere.models.list()).rejects.toThrow('Invalid API key.')
    const unknown = await client.chat.completions
      .create({ ...ask, model: 'nanoclaw/none' })
      .catch((error: unknown) => error)
    expect(unknown).toMatchObject({
      status: 404,
      code: 'model_not_found',
      message: expect.stringContaining('nanoclaw/scripted'),
    })
    const twice = client.chat.completions.create({ ...ask, n: 2 })
    await expect(twice).rejects.toMatchObject({
      status: 400,
      param: 'n',
      type: 'invalid_request_error',
    })
    const functions = client.chat.completions.create({
      ...ask,
      functions: [{ name: 'old', parameters: {} }],
    })
    await expect(functions).rejects.toMatchObject({
      status: 400,
      param: 'functions',
      message: expect.stringContaining('use `tools`'),
    })
    const nowhere = await fetch(`${server.url}/v1/nothing`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(nowhere.status).toBe(404)
    expect(await nowhere.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })
})
