// Embeddings through the official `openai` package: the configured endpoint, with the key, the limits and the statistics of the caller.
import OpenAI, { InternalServerError, NotFoundError } from 'openai'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const upstream = await useUpstream()
const asked: { input: string[]; dimensions?: number }[] = []

/** The length of each text and 1.5, or as many numbers as asked for. */
const vectorOf = (text: string, dimensions = 2) =>
  Array.from({ length: dimensions }, (_, at) => (at === 0 ? text.length : 1.5))

describeOnEachServer('embeddings for programs', (start) => {
  let server: TestServer
  let token = ''
  let admin = ''
  let client: OpenAI
  const config = {
    models: [{ id: 'scripted', api_url: upstream.url }],
    auth_mode: 'multi' as const,
    jwt_secret: TEST_JWT_SECRET,
  }
  const clientOf = async (of: TestServer, name: string) => {
    token = await register(of, name)
    const { json } = await of.call('POST', '/api/auth/keys', { token, body: { name: 'tests' } })
    return new OpenAI({ baseURL: `${of.url}/v1`, apiKey: json.data.key, maxRetries: 0 })
  }
  beforeEach(() =>
    upstream.program(({ path, body }) => {
      if (!path.endsWith('/embeddings')) return undefined
      const { input, dimensions } = body as { input: string[]; dimensions?: number }
      asked.push({ input, ...(dimensions === undefined ? {} : { dimensions }) })
      if (input.includes('broken')) return turn.json(500, { error: 'secret cause' })
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text, dimensions) }))
      return turn.json(200, { data, usage: { prompt_tokens: input.length * 10 } })
    }),
  )
  beforeAll(async () => {
    server = await start({
      ...config,
      embeddings: { api_url: upstream.url, model: 'tiny', price: { input: 1, currency: 'USD' } },
    })
    client = await clientOf(server, 'caller')
    // The first account is the administrator.
    admin = token
  })

  test('are returned in order, as numbers and in the form that the package asks for', async () => {
    const model = 'nanoclaw/tiny'
    // The package asks for base64 and decodes it.
    const texts = Array.from({ length: 60 }, (_, at) => 'x'.repeat(at + 1))
    const packed = await client.embeddings.create({ model, input: texts })
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(
      texts.map((text) => vectorOf(text)),
    )
    expect(packed.data.map(({ index }) => index)).toEqual(texts.map((_, at) => at))
    expect(packed).toMatchObject({
      object: 'list',
      model,
      usage: { prompt_tokens: 600, total_tokens: 600 },
    })
    const plain = await client.embeddings.create({
      model: 'tiny',
      input: 'four',
      encoding_format: 'float',
      dimensions: 3,
    })
    expect(plain.data).toEqual([{ object: 'embedding', index: 0, embedding: [4, 1.5, 1.5] }])
    expect(asked.at(-1)).toEqual({ input: ['four'], dimensions: 3 })
  })

  test('count for the caller, who is refused at the limit before the endpoint is asked', async () => {
    const small = await clientOf(server, 'small')
    const user = token
    const found = await server.call('GET', '/api/admin/users?q=small', { token: admin })
    await server.call('PATCH', `/api/admin/users/${found.json.data.items[0].id}`, {
      token: admin,
      body: { quota: { tokens_per_day: 15 } },
    })
    const ask = () => small.embeddings.create({ model: 'tiny', input: ['one', 'two'] })
    await ask()
    const before = asked.length
    await expect(ask()).rejects.toMatchObject({ status: 429, code: 'tokens_per_day_used_up' })
    expect(asked).toHaveLength(before)
    const { json } = await server.call('GET', '/api/stats/tokens?period=daily', { token: user })
    expect(JSON.stringify(json.data)).toContain('"total_tokens":20')
  })

  test('fail with a status that says whose fault it is, and without the cause', async () => {
    const failed = client.embeddings.create({ model: 'tiny', input: 'broken' })
    await expect(failed).rejects.toThrow(InternalServerError)
    await expect(failed).rejects.not.toThrow('secret cause')
    await expect(client.embeddings.create({ model: 'other', input: 'a' })).rejects.toThrow(
      'nanoclaw/tiny',
    )
    await expect(
      client.embeddings.create({ model: 'tiny', input: [[1, 2]] as never }),
    ).rejects.toMatchObject({ status: 400 })
    const without = await clientOf(await start(config), 'caller')
    await expect(without.embeddings.create({ model: 'tiny', input: 'a' })).rejects.toThrow(
      NotFoundError,
    )
  })
})
