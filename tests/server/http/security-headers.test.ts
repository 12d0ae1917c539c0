// Which origins and hosts a server in single mode answers, and the security headers of every response.
import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { type TestServer, useServers } from '../../support/server/server.ts'

const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start()
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

test('every response forbids inline scripts and styles and those of other hosts, and responses of the API are not cached', async () => {
  const answer = await fetch(`${server.url}/api/models`)
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect(answer.headers.get('content-security-policy')).toContain("object-src 'none'")
  expect(answer.headers.get('content-security-policy')).not.toContain('unsafe')
  expect(answer.headers.get('permissions-policy')).toContain('camera=(), ')
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  // Browsers ignore it over plain HTTP, and say so in the console.
  expect(answer.headers.get('cross-origin-opener-policy')).toBeNull()
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  expect(answer.headers.get('x-frame-options')).toBe('DENY')
  // Only over HTTPS.
  expect(answer.headers.get('strict-transport-security')).toBeNull()
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('a stream of events has the same headers', async () => {
  const leaving = new AbortController()
  const answer = await fetch(`${server.url}/api/events`, { signal: leaving.signal })
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  expect(answer.headers.get('cache-control')).toContain('no-store')
  leaving.abort()
})
