// Failures of the provider as programs see them: with a status that tells whose fault it is, and without a flood of repeated requests.
import { createOpenAI } from '@ai-sdk/openai'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText } from 'ai'
import OpenAI from 'openai'
import { beforeAll, expect, test } from 'vitest'
import type { Turn } from '../../support/provider/upstream-turns.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const TOO_LONG = "This model's maximum context length is 8192 tokens, your messages have 9000."

describeOnEachServer('a failure of the provider', (start) => {
  let server: TestServer
  /** With the retries of a program that was not configured. */
  let client: OpenAI
  beforeAll(async () => {
    server = await start({
      models: [
        { id: 'scripted', api_url: upstream.url },
        { id: 'returned', api_url: upstream.url },
      ],
      titles: 'off',
    })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })
  })
  /** The failure of `ask` if the provider always answers with `failure`, and how many requests the provider received. */
  async function failing(failure: Turn, ask: () => Promise<unknown>) {
    upstream.reset()
    upstream.program(() => failure)
    const before = upstream.requests.length
    const error: unknown = await ask().then(
      () => 'no error',
      (thrown: unknown) => thrown,
    )
    upstream.reset()
    return { error, requests: upstream.requests.length - before }
  }
  const question = (text: string) => ({
    model,
    messages: [{ role: 'user' as const, content: text }],
  })
  /** Sends a question as a program that has no package. */
  const post = (
    text: string,
    options: Partial<Record<'model' | 'key' | 'transfer', string>> = {},
  ) => {
    const { key, transfer } = options
    const body = JSON.stringify({ model: options.model ?? model, input: text, stream: true })
    return fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(transfer === 'chunked'
        ? { body: new Blob([body]).stream(), duplex: 'half' as const }
        : { body }),
    })
  }
  /** How many requests the provider received for `times` of them, if it fails each time. */
  const asked = async (times: number, ask: () => Promise<Response>, failure: Turn) => {
    const { requests } = await failing(failure, async () => {
      for (let count = 0; count < times; count += 1) await (await ask()).text()
    })
    return requests
  }
  /** The same question in every form of both APIs. */
  const forms = (text: string) => ({
    completion: () => client.chat.completions.create(question(text)),
    'streamed completion': () =>
      client.chat.completions.create({ ...question(text), stream: true }),
    response: () => client.responses.create({ model, input: text }),
    'streamed response': () => client.responses.create({ model, input: text, stream: true }),
  })

  test('a request that the provider refuses is 400 with its reason, streamed or not, and sent once', async () => {
    for (const [form, ask] of Object.entries(forms('Refuse me.'))) {
      const { error, requests } = await failing(turn.error(422, 'The field x is unknown.'), ask)
      expect([form, error]).toMatchObject([
        form,
        {
          status: 400,
          type: 'invalid_request_error',
          code: 'model_refused',
          message: expect.stringContaining('The field x is unknown.'),
        },
      ])
      expect([form, requests]).toEqual([form, 1])
    }
  })

  test('a key of the server that the provider refuses is 502, which programs do not repeat', async () => {
    for (const [form, ask] of Object.entries(forms('Key?'))) {
      const { error, requests } = await failing(turn.error(401, 'no such key'), ask)
      expect([form, error]).toMatchObject([form, { status: 502, code: 'model_unauthorized' }])
      expect([form, requests]).toEqual([form, 1])
    }
    const { error } = await failing(turn.error(403, 'Not in your region.'), forms('403').completion)
    expect(error).toMatchObject({ status: 502, code: 'model_refused' })
  })

  test('a conversation that is too long for the model has the code that programs know', async () => {
    for (const [form, ask] of Object.entries(forms('Too long.'))) {
      const { error, requests } = await failing(turn.error(400, TOO_LONG), ask)
      expect([form, error]).toMatchObject([
        form,
        { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
      ])
      expect([form, requests]).toEqual([form, 1])
    }
  })

  test('a provider that is broken gets at most four requests for one of the openai package', async () => {
    // Not streamed: on a busy machine the head of a stream could come before the last attempt.
    const { error, requests } = await failing(turn.error(500, 'Oops.'), forms('Break.').completion)
    expect(error).toMatchObject({ status: 502, code: 'model_unavailable' })
    expect(requests).toBe(4)
  })

  test('a provider that is broken gets at most four requests for one of the AI SDK, which repeats all', async () => {
    const sdk = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })
    const { requests } = await failing(turn.error(500, 'Oops.'), () =>
      generateText({ model: sdk(model), prompt: 'Break the SDK.' }),
    )
    expect(requests).toBeLessThanOrEqual(4)
    // Codex repeats each request five times, and the stream six times.
    const statuses: number[] = []
    const repeated = await failing(turn.error(500, 'Oops.'), async () => {
      for (let count = 0; count < 10; count += 1) {
        const response = await post('Break Codex.')
        statuses.push(response.status)
        expect(response.headers.get('x-should-retry')).toBe('false')
        // Continue repeats every `server_error`, too.
        const type = response.status === 502 ? 'server_error' : 'failed_dependency'
        expect(await response.json()).toMatchObject({ error: { type, code: 'model_unavailable' } })
      }
    })
    expect(repeated).toEqual({ error: 'no error', requests: 4 })
    // Most programs repeat after a 5xx only.
    expect(statuses).toEqual([502, 502, 502, ...Array<number>(7).fill(424)])
    const refused = await failing(turn.error(400, 'No.'), () =>
      generateText({ model: sdk(model), prompt: 'Refuse the SDK.' }),
    )
    expect(refused.requests).toBe(1)
    const chat = new ChatOpenAI({
      model,
      apiKey: 'none',
      configuration: { baseURL: `${server.url}/v1` },
    })
    const ofLangChain = await failing(turn.error(400, 'No.'), () =>
      chat.invoke([new HumanMessage('Refuse LangChain.')]),
    )
    expect(ofLangChain.requests).toBe(1)
  })

  test('a provider that is broken gets at most four requests for one of a program that repeats what the openai package does not', async () => {
    // LangChain and Continue do so, after pauses that grow.
    const { requests } = await failing(turn.error(500, 'Oops.'), async () => {
      for (let count = 0; count < 3; count += 1)
        await expect(forms('Break again.').completion()).rejects.toMatchObject({
          status: count === 0 ? 502 : 424,
        })
    })
    expect(requests).toBe(4)
  })

  test('a provider that is left alone for one request is asked for others: of another model, without a length, joined', async () => {
    const broken = turn.error(500, 'Oops.')
    expect(await asked(4, () => post('Same.'), broken)).toBe(4)
    const other = () => post('Same.', { model: 'nanoclaw/returned' })
    expect(await asked(1, other, broken)).toBeGreaterThan(0)
    const chunked = () => post('No length.', { transfer: 'chunked' })
    expect(await asked(4, chunked, broken)).toBeGreaterThan(4)
    const joined = () => post('Join.', { key: 'join' })
    const ofOne = await asked(6, joined, broken)
    expect(ofOne).toBe(2)
    expect(await asked(1, () => post('Join.'), broken)).toBe(1)
  })

  test('a provider that breaks off its answers gets at most four requests for one that is repeated', async () => {
    const { actions, ...rest } = turn.text('Half an answer', { chunkSize: 5 })
    const half: Turn = { ...rest, actions: [...actions.slice(0, 2), { finish: 'reset' }] }
    expect(await asked(7, () => post('Half again.'), half)).toBe(4)
  })

  test('a request that failed is asked again when it is sent again, and works once the provider does', async () => {
    expect(await asked(1, () => post('Recover.'), turn.error(500, 'Oops.'))).toBe(2)
    upstream.enqueue(turn.text('Recovered.'))
    expect(await (await post('Recover.')).text()).toContain('Recovered.')
  })

  test('a failure after the first output ends the stream with an error', async () => {
    upstream.enqueue({
      ...turn.text('Half an ans'),
      actions: [...turn.text('Half an ans').actions.slice(0, 2), { finish: 'reset' }],
    })
    const stream = await client.chat.completions.create({ ...question('Half'), stream: true })
    const read = async () => {
      for await (const _chunk of stream);
    }
    await expect(read()).rejects.toThrow(OpenAI.APIError)
  })

  test('the head of a stream is sent after ten seconds without output, and the answer follows', async () => {
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('Late.', { until }))
    const stream = await client.chat.completions.create({ ...question('Late?'), stream: true })
    release()
    let text = ''
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    expect(text).toBe('Late.')
  })
})
