// Guarded requests to the web, against real servers on loopback with host names that only the tests resolve.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch, type FetchOptions } from '../../../server/net/guarded-fetch.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const pages = new Map<string, Handler>()
const seen: { path: string; headers: IncomingMessage['headers'] }[] = []
const server = createServer((request, response) => {
  const path = request.url ?? ''
  seen.push({ path, headers: request.headers })
  const page = pages.get(path)
  if (page !== undefined) page(request, response)
  else response.writeHead(404).end()
})
let port = 0
/** `site.test` may be fetched; names that are not listed resolve to this machine. */
const names: Record<string, string[]> = {
  'site.test': ['127.0.0.1'],
  'rebind.test': ['127.0.0.1'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'meta.test': ['169.254.169.254'],
}
const guarded = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: ['site.test'], allowPorts: [80, 443] }),
  resolve: async (host) =>
    (names[host] ?? ['127.0.0.1']).map((address) => ({ address, family: 4 })),
})
const get = (url: string, options: Partial<FetchOptions> = {}) =>
  guarded(url, { signal: new AbortController().signal, ...options })
const site = (path: string): string => `http://site.test:${port}${path}`
const text = (body: Uint8Array): string => Buffer.from(body).toString()

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  pages.set('/secret', (_request, response) => response.end('canary'))
  pages.set('/hello', (_request, response) =>
    response.setHeader('set-cookie', 'a=b').setHeader('content-type', 'Text/Plain').end('hello'),
  )
})
afterAll(async () => {
  await guarded.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('a request', () => {
  test.each([
    'http://127.0.0.1:PORT/secret',
    'http://127.1:PORT/secret',
    'http://2130706433:PORT/secret',
    'http://0x7f000001:PORT/secret',
    'http://0x7f.1:PORT/secret',
    'http://0177.0.0.1:PORT/secret',
    'http://①②⑦.⓪.⓪.①:PORT/secret',
    'http://127。0。0。1:PORT/secret',
    'http:127.0.0.1:PORT/secret',
    'http:///127.0.0.1:PORT/secret',
    'http://0:PORT/secret',
    'http://[::1]:PORT/secret',
    'http://[::ffff:127.0.0.1]:PORT/secret',
    'http://[::7f00:1]:PORT/secret',
    'http://[64:ff9b::7f00:1]:PORT/secret',
    'http://[2002:7f00:1::]:PORT/secret',
    'http://[::ffff:0:7f00:1]:PORT/secret',
    'http://localhost:PORT/secret',
    'http://localhost.:PORT/secret',
    'http://app.localhost:PORT/secret',
    'http://LOCALHOST:PORT/secret',
    'http://rebind.test:PORT/secret',
    'http://mixed.test:PORT/secret',
    'http://meta.test/latest/meta-data/',
    'http://169.254.169.254/latest/meta-data/',
    'http://user:pass@site.test:PORT/secret',
    'http://site.test@127.0.0.1:PORT/secret',
    'file:///etc/passwd',
    'ftp://site.test/secret',
    'data:text/plain,canary',
    'gopher://127.0.0.1:PORT/',
    'not a url',
    '',
  ])('to %j is refused', async (form) => {
    const before = seen.length
    const outcome = await get(form.replace('PORT', String(port)))
    expect(outcome).toMatchObject({ ok: false })
    expect(seen.length).toBe(before)
  })

  test.each(['http://127.0.0.1:PORT/secret', 'http://localhost:PORT/secret', 'file:///etc/passwd'])(
    'with a redirect to %s is refused',
    async (target) => {
      pages.set('/away', (_request, response) =>
        response.writeHead(302, { location: target.replace('PORT', String(port)) }).end(),
      )
      const before = seen.length
      expect(await get(site('/away'))).toMatchObject({ ok: false })
      expect(seen.slice(before).map(({ path }) => path)).toEqual(['/away'])
    },
  )

  test('with endless redirects is refused', async () => {
    pages.set('/loop', (_request, response) => response.writeHead(302, { location: '/loop' }).end())
    const before = seen.length
    expect(await get(site('/loop'))).toMatchObject({ ok: false, error: 'More than 5 redirects.' })
    expect(seen.length - before).toBe(6)
  })

  test('is refused by its content type before the body is read', async () => {
    pages.set('/image', (_request, response) => {
      response.setHeader('content-type', 'image/png').write('x')
    })
    const outcome = await get(site('/image'), { refuseType: (type) => `no ${type}` })
    expect(outcome).toMatchObject({ ok: false, error: 'no image/png' })
  })
})

describe('a fetched page', () => {
  test('has its type in lower case, and no cookie is stored or sent', async () => {
    expect(await get(site('/hello'))).toMatchObject({ ok: true, contentType: 'text/plain' })
    await get(site('/hello'))
    for (const { headers } of seen) {
      expect(headers.cookie).toBeUndefined()
      expect(headers.authorization).toBeUndefined()
    }
  })

  test('is found through redirects and has its final address', async () => {
    pages.set('/old', (_request, response) => response.writeHead(301, { location: '/hello' }).end())
    const outcome = await get(site('/old'))
    expect(outcome.ok && [outcome.url, text(outcome.body)]).toEqual([site('/hello'), 'hello'])
  })

  test('is truncated by its decoded size, also when it is compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'))
    pages.set('/bomb', (_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(bomb),
    )
    const outcome = await get(site('/bomb'), { maxBytes: 10_000 })
    expect(outcome).toMatchObject({ ok: true, truncated: true })
    expect(outcome.ok && outcome.body.length).toBe(10_000)
  })

  test('may be private if the operator allows it, but a redirect from it may not', async () => {
    const own = `http://127.0.0.1:${port}`
    expect(await get(`${own}/hello`, { trusted: true })).toMatchObject({ ok: true, status: 200 })
    pages.set('/leave', (_request, response) =>
      response.writeHead(302, { location: `http://localhost:${port}/secret` }).end(),
    )
    const headers = { 'x-key': 'secret' }
    const outcome = await get(`${own}/leave`, { trusted: true, headers })
    expect(outcome).toMatchObject({ ok: false })
  })

  test('is sent a body with POST, and a redirect is then not followed', async () => {
    pages.set('/post', (request, response) => {
      request.pipe(response.writeHead(307, { location: '/secret' }))
    })
    const outcome = await get(site('/post'), { method: 'POST', body: '{"a":1}' })
    expect(outcome.ok && [outcome.status, text(outcome.body)]).toEqual([307, '{"a":1}'])
  })

  test('has the status of an HTTP error', async () => {
    expect(await get(site('/nothing-here'))).toMatchObject({ ok: true, status: 404 })
  })
})

describe('time and faults', () => {
  test('a response that never ends is abandoned at the time limit', async () => {
    pages.set('/slow', (_request, response) => {
      response.write('a')
    })
    const outcome = await get(site('/slow'), { timeoutMs: 200 })
    expect(outcome).toMatchObject({ ok: false, error: 'No complete response within 0.2 seconds.' })
  })

  test('an abort ends the request and closes the connection', async () => {
    const stop = new AbortController()
    const closed = new Promise<void>((resolve) => {
      pages.set('/hang', (request) => {
        request.socket.once('close', () => resolve())
        stop.abort()
      })
    })
    const outcome = await get(site('/hang'), { signal: stop.signal })
    expect(outcome).toMatchObject({ ok: false, error: 'Stopped.' })
    await closed
  })

  test('a refused and a broken connection are failures with a plain message', async () => {
    pages.set('/broken', (request) => request.socket.destroy())
    expect(await get(site('/broken'))).toMatchObject({
      error: 'The server closed the connection.',
    })
    expect(await get('http://site.test:9/')).toMatchObject({ ok: false })
  })
})
