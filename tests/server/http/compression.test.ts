// Which responses are compressed: larger JSON, for clients that accept it.
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { compressJson } from '../../../server/http/compression.ts'
import { useServers } from '../../support/server/server.ts'

const long = { text: 'a sentence of many. '.repeat(200) }

function appWith(headers: Record<string, string> = {}) {
  const app = Fastify()
  compressJson(app)
  app.addHook('onRequest', async (_request, reply) => void reply.headers(headers))
  for (const path of ['/api/things', '/api/auth/things']) app.get(path, async () => long)
  app.post('/api/things', async () => long)
  app.get('/api/short', async () => ({ text: 'short' }))
  app.get('/api/text', async (_request, reply) => reply.type('text/plain').send(long.text))
  return app
}

const get = (app: ReturnType<typeof appWith>, url: string, accepted = 'gzip, deflate, br') =>
  app.inject({ method: 'GET', url, headers: { 'accept-encoding': accepted } })

test('a larger JSON response is compressed, and says that it depends on what the client accepts', async () => {
  const response = await get(appWith({ vary: 'Origin' }), '/api/things')
  expect(response.headers['content-encoding']).toBe('gzip')
  expect(response.headers.vary).toBe('Origin, Accept-Encoding')
  expect(Number(response.headers['content-length'])).toBe(response.rawPayload.length)
  expect(JSON.parse(gunzipSync(response.rawPayload).toString())).toEqual(long)
})

test.each(['identity', 'br', 'gzip;q=0', 'gzip; q=0.000'])(
  'a client that accepts %j receives it uncompressed, and caches learn that others may not',
  async (accepted) => {
    const response = await get(appWith(), '/api/things', accepted)
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(response.headers.vary).toBe('Accept-Encoding')
    expect(response.json()).toEqual(long)
  },
)

test('a client that merely prefers something else still receives it compressed', async () => {
  const response = await get(appWith(), '/api/things', 'br, gzip;q=0.5')
  expect(response.headers['content-encoding']).toBe('gzip')
})

test('short responses, other types, responses with an ETag, of the sign-in and to a POST stay as they are', async () => {
  const responses = [
    await get(appWith(), '/api/short'),
    await get(appWith(), '/api/text'),
    await get(appWith(), '/api/auth/things'),
    await get(appWith({ etag: '"1"' }), '/api/things'),
    await appWith().inject({
      method: 'POST',
      url: '/api/things',
      headers: { 'accept-encoding': 'gzip' },
    }),
  ]
  for (const { headers } of responses) {
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers.vary).toBeUndefined()
  }
})

const { start } = useServers()

test('the server compresses the list of conversations and nothing of a stream of events', async () => {
  const server = await start()
  for (let index = 0; index < 12; index += 1)
    await server.call('POST', '/api/conversations', { body: { title: `Conversation ${index}` } })
  const encodingOf = (path: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      // Not `fetch`, which hides the encoding by decoding it.
      request(`${server.url}${path}`, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
        resolve(answer.headers['content-encoding'])
        answer.destroy()
      })
        .on('error', reject)
        .end()
    })
  expect(await encodingOf('/api/conversations?limit=100')).toBe('gzip')
  expect(await encodingOf('/api/events')).toBeUndefined()
})
