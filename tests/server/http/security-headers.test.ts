// Which origins and hosts a server in single mode answers, and the security headers of every response.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const response = await fetch(`${server.url}/api/models`)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect(response.headers.get('content-security-policy')).toContain("object-src 'none'")
  expect(response.headers.get('content-security-policy')).not.toContain('unsafe')
  expect(response.headers.get('permissions-policy')).toContain('camera=(), ')
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  // Browsers ignore it over plain HTTP, and say so in the console.
  expect(response.headers.get('cross-origin-opener-policy')).toBeNull()
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  expect(response.headers.get('x-frame-options')).toBe('DENY')
  // Browsers look up the names of links in advance otherwise.
  expect(response.headers.get('x-dns-prefetch-control')).toBe('off')
  // Only over HTTPS.
  expect(response.headers.get('strict-transport-security')).toBeNull()
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test('the page may run only the scripts and use only the styles in its own document, by their hashes', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nanoclaw-page-'))
  const inline = { style: 'body{color:red}', script: 'first()', other: 'second()' }
  writeFileSync(
    join(root, 'index.html'),
    `<html><style>${inline.style}</style><script>${inline.script}</script><script>${inline.other}</script><script src="/assets/a.js"></script></html>`,
  )
  const { url } = await start({ webRoot: root })
  const policy = (await fetch(`${url}/`)).headers.get('content-security-policy') ?? ''
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const sourcesOf = (directive: string) =>
    policy.split(';').flatMap((part) => {
      const [name, ...sources] = part.trim().split(' ')
      return name === directive ? [sources] : []
    })
  expect(sourcesOf('script-src')).toEqual([["'self'", hashOf(inline.script), hashOf(inline.other)]])
  expect(sourcesOf('style-src')).toEqual([["'self'", hashOf(inline.style)]])
  expect(sourcesOf('default-src')).toEqual([["'self'"]])
  expect(policy).not.toContain('unsafe')
  // The reference of the API sets styles of elements, and nothing else beyond that.
  const reference = (await fetch(`${url}/docs/`)).headers.get('content-security-policy') ?? ''
  expect(reference.match(/[^;]*'unsafe-[^;]*/g)?.map((part) => part.trim())).toEqual([
    "style-src-attr 'unsafe-inline'",
  ])
  rmSync(root, { recursive: true })
})

test('a stream of events has the same headers', async () => {
  const leaving = new AbortController()
  const response = await fetch(`${server.url}/api/events`, { signal: leaving.signal })
  expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  expect(response.headers.get('cache-control')).toContain('no-store')
  leaving.abort()
})

test('scripts, styles and fonts of the page carry only the headers that apply to embedded files, and workers carry the content security policy', async () => {
  for (const name of ['page-Dx1.js', 'page-Dx1.css', 'geist.woff2', 'mermaid-11/chunks/a.mjs']) {
    const { headers } = await fetch(`${server.url}/assets/${name}`)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('content-security-policy')).toBeNull()
    expect(headers.get('permissions-policy')).toBeNull()
    expect(headers.get('x-frame-options')).toBeNull()
  }
  // A worker has the policy of its file, and an image or a document may be opened by itself.
  for (const name of [
    'assets/workers/highlight-worker-Dx1.js',
    'assets/drawing.svg',
    'favicon.svg',
  ])
    expect((await fetch(`${server.url}/${name}`)).headers.get('content-security-policy')).toContain(
      "default-src 'self'",
    )
})
