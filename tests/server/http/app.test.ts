// Over HTTP: every failure is returned in the error envelope, and no internal details leak.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../server/errors.ts'
import { type App, createApp } from '../../../server/http/app.ts'
import { envelope, optional } from '../../../server/protocol/envelope.ts'

let app: App
let origin = ''

beforeAll(async () => {
  app = createApp({ bodyLimit: 10_000 })
  const Body = z.object({ name: z.string().max(5), count: optional(z.int()) })
  app.post(
    '/api/echo',
    { schema: { body: Body, response: { 200: envelope(z.unknown()) } } },
    async ({ body }) => ({ code: 0 as const, data: body }),
  )
  app.post('/api/free', { schema: { body: z.object({ a: optional(z.string()) }) } }, async () => ({
    code: 0,
  }))
  app.get('/api/boom', async () => {
    throw new Error('canary: /secret/path')
  })
  app.get('/api/busy', async () => {
    throw new AppError('too_many_runs', 'Wait a little.', { retryAfter: 3, details: { a: 1 } })
  })
  app.get('/api/things/:id', async ({ params }) => ({ code: 0, data: params }))
  app.get('/api/wrong', { schema: { response: { 200: z.object({ a: z.string() }) } } }, async () =>
    // A handler whose response violates its schema, unnoticed by the type checker.
    JSON.parse('{"a":1,"canary":2}'),
  )
  origin = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const post = (path: string, body: string, type = 'application/json') =>
  fetch(origin + path, { method: 'POST', body, headers: { 'content-type': type } })

describe('the envelope of errors', () => {
  test('an invalid body returns 400 and names the field', async () => {
    const response = await post('/api/echo', '{"name":"too long"}')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 400,
      message: expect.stringContaining('name'),
      details: [{ path: 'name' }],
    })
  })

  const bodies: readonly [string, number][] = [
    ['{"name":', 400],
    ['', 400],
    ['null', 400],
    ['[]', 400],
    ['"x"', 400],
    ['{"name":1}', 400],
    ['{"name":null}', 400],
    ['{"name":"a","count":"1"}', 400],
    [`{"name":"${'x'.repeat(20_000)}"}`, 413],
    [`{"name":"a","x":${'['.repeat(2000)}${']'.repeat(2000)}}`, 400],
    ['{"name":"a","__proto__":{"role":"admin"}}', 200],
    ['{"name":"a","constructor":{"prototype":{"a":1}}}', 200],
  ]
  test.each(bodies.map(([body, status]) => ({ name: body.slice(0, 40), body, status })))(
    'the body $name returns $status',
    async ({ body, status }) => {
      const response = await post('/api/echo', body)
      expect(response.status).toBe(status)
      const json = await response.json()
      expect(json).toMatchObject(
        status === 200 ? { code: 0, data: { name: 'a' } } : { code: status },
      )
      expect(JSON.stringify(json)).not.toContain('role')
    },
  )

  test('every failure has a code for programs and the id of its request', async () => {
    const named = async (answer: Response): Promise<unknown> => {
      const body = z
        .object({ code: z.int(), message: z.string(), error: z.string(), request_id: z.string() })
        .parse(await answer.json())
      expect(answer.headers.get('x-request-id')).toBe(body.request_id)
      expect(body.code).toBe(answer.status)
      return body.error
    }
    expect(await named(await post('/api/echo', '{"name":1}'))).toBe('validation_failed')
    expect(await named(await post('/api/echo', '{'))).toBe('bad_request')
    expect(await named(await post('/api/echo', 'a', 'text/csv'))).toBe('unsupported_media_type')
    expect(await named(await post('/api/echo', JSON.stringify({ name: 'x'.repeat(20_000) })))).toBe(
      'payload_too_large',
    )
    expect(await named(await fetch(`${origin}/api/nothing`))).toBe('not_found')
    expect(await named(await fetch(`${origin}/api/boom`))).toBe('internal')
    expect(await named(await fetch(`${origin}/api/busy`))).toBe('too_many_runs')
    expect(await named(await fetch(`${origin}/api/%ff`))).toBe('bad_request')
    expect(await named(await fetch(`${origin}/api/things/${'x'.repeat(20_000)}`))).toBe(
      'headers_too_large',
    )
    const fine = await fetch(`${origin}/api/things/1`)
    expect(fine.headers.get('x-request-id')).toMatch(/./)
  })

  test('null for an optional field means absent, unknown fields are dropped', async () => {
    const response = await post('/api/echo', '{"name":"a","count":null,"admin":true}')
    expect(await response.json()).toEqual({ code: 0, data: { name: 'a' } })
  })

  test('a route whose fields are all optional may be called without a body', async () => {
    expect((await fetch(`${origin}/api/free`, { method: 'POST' })).status).toBe(200)
    expect((await post('/api/free', '')).status).toBe(200)
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['nonsense', 415],
  ])('the content type %s returns %i', async (type, status) => {
    expect((await post('/api/echo', '{"name":"a"}', type)).status).toBe(status)
  })

  test('an unexpected error returns 500 with a neutral text', async () => {
    const response = await fetch(`${origin}/api/boom`)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toMatch(/canary|secret/)
  })

  test('a response that violates its schema returns 500 and is not sent', async () => {
    const response = await fetch(`${origin}/api/wrong`)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('canary')
  })

  test('an AppError returns its code, details and Retry-After', async () => {
    const response = await fetch(`${origin}/api/busy`)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('3')
    expect(await response.json()).toMatchObject({
      code: 429,
      message: 'Wait a little.',
      details: { a: 1 },
    })
  })

  test('an unknown path returns 404', async () => {
    const response = await fetch(`${origin}/api/nothing`)
    expect(await response.json()).toMatchObject({ code: 404 })
  })

  const requests: readonly [string, number][] = [
    ['GET /api/things/%zz HTTP/1.1', 400],
    ['GET /api/things/%c0%ae HTTP/1.1', 400],
    ['NONSENSE', 400],
    [`GET / HTTP/1.1\r\nx-long: ${'x'.repeat(30_000)}`, 431],
  ]
  test.each(requests.map(([head, status]) => ({ name: head.slice(0, 40), head, status })))(
    'the raw request $name returns $status in the envelope',
    async ({ head, status }) => {
      const { port } = new URL(origin)
      const text = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1')
        let received = ''
        socket.on('data', (chunk) => {
          received += chunk
        })
        socket.on('close', () => resolve(received))
        socket.on('error', reject)
        socket.write(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      })
      expect(text.split(' ')[1]).toBe(String(status))
      expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: status })
    },
  )
})
