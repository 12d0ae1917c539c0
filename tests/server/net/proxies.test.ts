// Requests to other servers go through the proxies of the environment, and the rules for addresses hold behind them.
import { createServer, request as sendRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProxyError, readProxies, throughProxies } from '../../../server/lib/proxies.ts'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useProcesses } from '../../support/server/process.ts'

const upstream = await useUpstream()
const { folder, start } = useProcesses()

/** What the proxy was asked to forward, or where to connect to, and as whom. */
const asked: { method: string | undefined; to: string | undefined; as: string | undefined }[] = []
/** Connects every request to the scripted provider, whatever name it asks for: names are resolved only here. */
const proxy = createServer((incoming, response) => {
  const { method, url = '', headers } = incoming
  const { 'proxy-authorization': as, ...others } = headers
  asked.push({ method, to: url, as })
  if (!URL.canParse(url)) return response.writeHead(400).end()
  const { pathname, search } = new URL(url)
  const path = pathname + search
  const forwarded = sendRequest(
    { host: '127.0.0.1', port: upstream.port, method, path, headers: others },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
  forwarded.on('error', () => response.destroy())
  return incoming.pipe(forwarded)
})
proxy.on('connect', ({ method, url, headers }, client) => {
  asked.push({ method, to: url, as: headers['proxy-authorization'] })
  const server = connect(upstream.port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    server.pipe(client)
    client.pipe(server)
  })
  for (const socket of [server, client]) socket.on('error', () => socket.destroy())
})
let proxyUrl = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  proxyUrl = `http://mule:s3cret-word@127.0.0.1:${port}`
})
afterAll(() => new Promise((resolve) => proxy.close(resolve)))

describe('the environment', () => {
  const of = (environment: Record<string, string>, target: string) =>
    readProxies(environment).proxyOf(new URL(target))
  const both = { HTTP_PROXY: 'http://a:1', https_proxy: 'http://b:2' }

  test('names a proxy for each scheme, in capitals or not', () => {
    expect(of(both, 'http://example.org/')).toBe('http://a:1/')
    expect(of(both, 'https://example.org/')).toBe('http://b:2/')
    expect(of({ HTTP_PROXY: 'http://a:1' }, 'https://example.org/')).toBeUndefined()
    expect(of({ HTTP_PROXY: '' }, 'http://example.org/')).toBeUndefined()
  })

  test.each([
    ['*', true, 'https://example.org/'],
    ['example.org', true, 'https://example.org/'],
    ['example.org', true, 'https://api.example.org/'],
    ['.example.org, other.org', true, 'https://api.example.org/'],
    ['*.example.org', true, 'https://api.example.org/'],
    ['ample.org', false, 'https://example.org/'],
    ['EXAMPLE.org:443', true, 'https://example.org/'],
    ['example.org:8443', false, 'https://example.org/'],
    ['other.org', true, 'http://localhost:11434/'],
    ['', true, 'http://127.0.0.1:11434/'],
    ['', true, 'http://[::1]:11434/'],
    ['10.0.0.5', true, 'http://10.0.0.5:8000/'],
    ['2001:db8::1', true, 'http://[2001:db8::1]:8000/'],
    ['2001:db8::1', false, 'http://[2001:db8::2]/'],
    ['2001:DB8:0::1', true, 'https://[2001:db8::1]/'],
    ['[2001:db8::1]', true, 'http://[2001:db8::1]/'],
    ['[2001:db8::1]:8000', true, 'http://[2001:db8::1]:8000/'],
    ['[2001:db8::1]:8000', false, 'http://[2001:db8::1]/'],
  ])('with NO_PROXY=%j, it is %j that nothing stands before %s', (exceptions, expected, target) => {
    expect(of({ ...both, NO_PROXY: exceptions }, target) === undefined).toBe(expected)
  })

  test('is refused by name when it holds no address of a proxy', () => {
    expect(() => readProxies({ HTTPS_PROXY: 'proxy:3128' })).toThrow(ProxyError)
    expect(() => readProxies({ http_proxy: 'socks5://a:1' })).toThrow('HTTP_PROXY')
    for (const url of ['http://mule:50%@a:1', 'http://50%:word@a:1'])
      expect(() => readProxies({ HTTPS_PROXY: url })).toThrow(
        new ProxyError(
          'HTTPS_PROXY: the user name or password contains a % that encodes no character. Write the % itself as %25.',
        ),
      )
    expect(readProxies({ HTTPS_PROXY: 'http://mule:50%25@a:1' }).secrets).toContain('50%')
  })
})

test('tools reach names that only the proxy resolves, and no address of an own network', async () => {
  const names: Record<string, string[]> = { 'inside.example': ['10.1.2.3'] }
  const guarded = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
    resolve: async (host) => {
      const found = names[host]
      if (found === undefined) throw new Error('ENOTFOUND')
      return found.map((address) => ({ address, family: 4 }))
    },
    proxies: readProxies({ HTTP_PROXY: proxyUrl }),
  })
  const get = (url: string) => guarded(url, { signal: new AbortController().signal })
  asked.length = 0
  expect(await get('http://pages.example/v1/models')).toMatchObject({ ok: true, status: 200 })
  const as = `Basic ${btoa('mule:s3cret-word')}`
  expect(asked).toEqual([{ method: 'GET', to: 'http://pages.example/v1/models', as }])
  for (const url of [
    'http://inside.example/',
    'http://10.1.2.3/',
    'http://169.254.169.254/latest/meta-data/',
    'http://intranet/',
    'http://vault.internal./',
    'http://pages.example:22/',
    'http://localhost/',
  ])
    expect(await get(url), url).toMatchObject({ ok: false })
  expect(asked).toHaveLength(1)
  await guarded.close()
})

test('what is encrypted goes through a tunnel to its server', async () => {
  const proxies = readProxies({ HTTPS_PROXY: proxyUrl })
  const { dispatcher, destroy } = await throughProxies(new Agent(), {}, proxies)
  asked.length = 0
  // The scripted provider does not encrypt.
  await expect(
    dispatcher.request({ origin: 'https://pages.example', path: '/', method: 'GET' }),
  ).rejects.toThrow()
  const as = `Basic ${btoa('mule:s3cret-word')}`
  expect(asked).toEqual([{ method: 'CONNECT', to: 'pages.example:443', as }])
  await destroy()
})

test('a server behind a proxy asks its provider through it, says so at the start, and hides the password', async () => {
  const program = start(folder(), {
    config: 'models: [{id: scripted, api_url: "http://models.example/v1"}]\ntitles: "off"\n',
    environment: { HTTP_PROXY: proxyUrl },
  })
  const url = await program.ready
  upstream.enqueue(turn.text('Through the proxy.'))
  asked.length = 0
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'nanoclaw/scripted',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  expect(await response.text()).toContain('Through the proxy.')
  expect(asked).toMatchObject([{ method: 'POST', to: 'http://models.example/v1/chat/completions' }])
  const { stdout, stderr } = program.output()
  expect(stdout + stderr).toContain(`"proxies":["${new URL(proxyUrl).origin}"]`)
  expect(stdout + stderr).not.toContain('s3cret-word')
})
