// Schemas that would keep the server busy for ever: they are taken or refused, and nobody else waits for them.
import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { longestTurn, slowness } from '../../support/event-loop.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

/** CPU time of the main thread, in which the client and the provider of the test run, too. */
const LIMIT_MS = 40
const ATTEMPTS = 4

const upstream = await useUpstream()
const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start({
    config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
  })
})

const nested = (levels: number, inner: string) =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}${inner}${'}}'.repeat(levels)}`
/** Definitions, each of which tries the next one twice. */
const doubling = JSON.stringify({
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` }
      return [`d${at}`, at === 39 ? { type: 'null' } : { anyOf: [next, next] }]
    }),
  ),
  $ref: '#/$defs/d0',
})
/** Compiles each of its references anew. */
const wide = JSON.stringify({
  $defs: {
    large: {
      properties: Object.fromEntries(
        Array.from({ length: 800 }, (_, at) => [`q${at}`, { type: 'string', minLength: at }]),
      ),
    },
  },
  properties: Object.fromEntries(
    Array.from({ length: 400 }, (_, at) => [`p${at}`, { $ref: '#/$defs/large' }]),
  ),
})
const schemas = {
  'has 20,000 levels': nested(20_000, '{}'),
  'has 90 levels': nested(90, '{"type":"string"}'),
  'has 30,000 properties': JSON.stringify({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
    ),
  }),
  'tries twice as much with each level': doubling,
  'refers to itself': '{"$ref":"#"}',
  'has a definition that is itself': '{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}',
  'has a pattern that tries every way': '{"type":"string","pattern":"^(a+)+$"}',
  'has a long pattern': JSON.stringify({ type: 'string', pattern: '(x+x+)+y'.repeat(5_000) }),
  'refers to a large part often': wide,
}

const question = '"model":"nanoclaw/scripted","messages":[{"role":"user","content":"Hello"}]'
const places = {
  response_format: (schema: string) =>
    [
      '/v1/chat/completions',
      `{${question},"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${schema}}}}`,
    ] as const,
  'text.format': (schema: string) =>
    [
      '/v1/responses',
      `{"model":"nanoclaw/scripted","store":false,"input":"Hello","text":{"format":{"type":"json_schema","name":"answer","schema":${schema}}}}`,
    ] as const,
  output_config: (schema: string) =>
    [
      '/v1/messages',
      `{${question},"max_tokens":100,"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
    ] as const,
  tools: (schema: string) =>
    [
      '/v1/chat/completions',
      `{${question},"tools":[{"type":"function","function":{"name":"own","parameters":${schema}}}]}`,
    ] as const,
}

/** Sends prepared text, and returns the status and the first part of the response. */
const send = (path: string, body: string): Promise<[status: number, text: string]> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        let text = ''
        response.on('data', (data: Buffer) => {
          text += data.toString().slice(0, 500)
        })
        response.once('end', () => resolve([response.statusCode ?? 0, text]))
      },
    )
    sent.once('error', reject)
    sent.end(body)
  })

const cases = Object.entries(places).flatMap(([place, requestOf]) =>
  Object.entries(schemas).map(([name, schema]) => [name, place, requestOf(schema)] as const),
)

test.each(cases)(
  'a schema that %s is taken or refused without holding others up (%s)',
  async (_name, _place, [path, body]) => {
    upstream.program(() => turn.text('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"'))
    const [status, text] = await send(path, body)
    // 502: the model never gives an answer of this form.
    expect([status, text]).toEqual([expect.toBeOneOf([200, 400, 502]), expect.any(String)])
    let least = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < ATTEMPTS && least > LIMIT_MS; attempt += 1) {
      const slow = slowness()
      const took = await longestTurn(async () => void (await send(path, body)))
      least = Math.min(least, took / slow)
    }
    expect(least).toBeLessThan(LIMIT_MS)
  },
)

test('a schema that is deeper or longer than any that can be read is refused with its bounds', async () => {
  for (const requestOf of Object.values(places)) {
    const [path, body] = requestOf(schemas['has 20,000 levels'])
    const [status, text] = await send(path, body)
    expect(status).toBe(400)
    expect(text).toContain('levels')
  }
})
