// Hostile requests against every route: each response is below 500, in the envelope, and the server stays up.
import { beforeAll, expect, test } from 'vitest'
import { describeOnEachServer, TEST_JWT_SECRET, type TestServer } from '../../support/server.ts'

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const bodies: readonly (string | undefined)[] = [
  undefined,
  '',
  'null',
  '0',
  '"text"',
  '[]',
  '{}',
  '{"',
  '\u0000',
  deep(100_000),
  `{"text":${deep(500)}}`,
  '{"__proto__":{"role":"admin"},"constructor":{"prototype":{}}}',
  JSON.stringify({
    text: 1,
    title: {},
    model: [],
    name: null,
    content: 7,
    path: false,
    id_ref: 'x',
  }),
  JSON.stringify({
    text: '\u0000\ud800',
    title: '\u0000',
    name: '\u0000',
    path: '../../etc/passwd',
    content: 'x',
    query: '(',
  }),
  JSON.stringify({
    text: 'x'.repeat(300_000),
    title: 'x'.repeat(300_000),
    name: 'x'.repeat(300_000),
    path: 'x'.repeat(300_000),
  }),
  JSON.stringify({
    limit: 1e308,
    temperature: -1e308,
    max_tokens: -0,
    attachments: Array(30).fill({}),
    files: {},
  }),
]
const ids = [
  'x',
  '..%2f..',
  '%00',
  '%ff',
  "'%20or%201=1--",
  'x'.repeat(3000),
  '%F0%9F%92%A9',
  '__proto__',
]
/** Whether an error response has the form that the API of its path promises. */
function isErrorBody(path: string, status: number, text: string): boolean {
  const body = JSON.parse(text)
  if (path.startsWith('/v1/')) return typeof body.error?.message === 'string'
  return body.code === status
}

const queries = [
  '',
  '?limit=-1&cursor=%00&q=%00&path=..%2f&period=x',
  '?limit=1&limit=2&cursor=a&cursor=b&path=a&path=b&q=a&q=b',
]

describeOnEachServer('hostile requests', (start) => {
  let server: TestServer
  let routes: { method: string; path: string }[] = []
  /** Ids of existing resources, so that requests get past the id check and the body is validated too. */
  let present: Record<string, string> = {}

  beforeAll(async () => {
    server = await start({ log_level: 'warn' })
    const document = await (await fetch(`${server.url}/openapi.json`)).json()
    routes = Object.entries<object>(Object(document).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    )
    const make = async (path: string, body: object): Promise<string> =>
      (await server.call('POST', path, { body })).json.data.id
    present = {
      conversations: await make('/api/conversations', {}),
      projects: await make('/api/projects', { name: 'Target' }),
    }
  })

  test('no body, id or query causes a server error', async () => {
    expect(routes.length).toBeGreaterThan(40)
    const wrong: string[] = []
    for (const { method, path } of routes) {
      if (path.endsWith('/events')) continue
      const takesBody = method !== 'GET' && method !== 'HEAD'
      const attempts = [
        // With the id of an existing resource where there is one, to reach the checks after the lookup too.
        ...(takesBody ? bodies : [undefined]).map((body) => ({
          id: method === 'DELETE' ? 'x' : (present[path.split('/')[2] ?? ''] ?? 'x'),
          query: '',
          body,
        })),
        ...ids.map((id) => ({ id, query: '', body: takesBody ? '{}' : undefined })),
        ...queries.map((query) => ({ id: 'x', query, body: undefined })),
      ]
      await Promise.all(
        attempts.map(async ({ id, query, body }) => {
          const url = server.url + path.replaceAll(/\{[^}]+\}|\*/g, id) + query
          const hasBody = body !== undefined
          const answer = await fetch(url, {
            method,
            ...(hasBody ? { body, headers: { 'content-type': 'application/json' } } : {}),
            signal: AbortSignal.timeout(20_000),
          })
          const text = await answer.text()
          const isExpected = answer.status < 400 || isErrorBody(path, answer.status, text)
          if (answer.status >= 500 || !isExpected)
            wrong.push(
              `${method} ${path} ${id.slice(0, 20)}${query} ${body?.slice(0, 60)} → ${answer.status} ${text.slice(0, 100)}`,
            )
        }),
      )
    }
    expect(wrong).toEqual([])
    expect(server.logged()).not.toContain('"level":50')
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  test('a body over the limit is refused before it is read', async () => {
    const answer = await fetch(`${server.url}/api/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'x'.repeat(11 * 1024 * 1024) }),
    }).catch(() => undefined)
    // The server may close the connection while the client is still writing; then there is no response.
    if (answer !== undefined) expect(answer.status).toBe(413)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test.each([
    [{ host: 'evil.example' }, 403],
    [{ host: '127.0.0.1.evil.example' }, 403],
    [{ host: 'localhost@evil.example' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:4000' }, 200],
    [{ host: 'LOCALHOST:1' }, 200],
  ])('in single mode a request with %j returns %i', async (headers, status) => {
    // Not `fetch`, which does not let a caller set these headers.
    const { request } = await import('node:http')
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      request(`${server.url}/api/auth/mode`, { headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(answered).toBe(status)
  })

  test('pages of allowed origins may read responses, and others may not', async () => {
    const multi = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      cors_origins: ['https://chat.example.org'],
    })
    const preflight = async (origin: string) => {
      const answer = await fetch(`${multi.url}/api/conversations`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PATCH' },
      })
      return answer.headers.get('access-control-allow-origin')
    }
    expect(await preflight('https://chat.example.org')).toBe('https://chat.example.org')
    expect(await preflight(multi.url)).toBe(multi.url)
    expect(await preflight('https://evil.example')).toBeNull()
  })

  test('every response forbids scripts of other hosts, and responses of the API are not cached', async () => {
    const answer = await fetch(`${server.url}/api/models`)
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(answer.headers.get('content-security-policy')).toContain("object-src 'none'")
    expect(answer.headers.get('permissions-policy')).toContain('camera=(), ')
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    // Browsers ignore it over plain HTTP, and say so in the console.
    expect(answer.headers.get('cross-origin-opener-policy')).toBeNull()
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })
})
