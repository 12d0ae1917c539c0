// What the doctor says of the public address, the proxy before it, and the clock.
import { createServer, type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { checkClock } from '../../../server/doctor/checks/clock.ts'
import { checkPublicAddress, proxyFaults } from '../../../server/doctor/checks/public-address.ts'
import { databaseKeys, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

const databases = useDatabases()
const { start } = useServers()

async function listening(handle: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** A reverse proxy that changes the headers of requests. */
async function startProxy() {
  const proxy = {
    target: '',
    change: (headers: IncomingMessage['headers']): IncomingMessage['headers'] => headers,
    url: '',
  }
  proxy.url = await listening((incoming, response) => {
    const outgoing = request(
      `${proxy.target}${incoming.url}`,
      { headers: proxy.change(incoming.headers) },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    outgoing.on('error', () => response.writeHead(502).end())
    incoming.pipe(outgoing)
  })
  return proxy
}

test('the doctor recognizes its own server behind the public address, and says what the proxy keeps from it', async () => {
  const settings = await databases.migrated('sqlite')
  const proxy = await startProxy()
  const codes = async () =>
    (await checkPublicAddress(proxy.url, settings)).map(({ state, code }) => `${state} ${code}`)
  // Before the first start, there is nothing that could be asked.
  expect(await codes()).toEqual([])
  const config = { ...databaseKeys(settings), public_url: proxy.url }
  const server = await start({ config })
  proxy.target = server.url
  const forwarding = (headers: IncomingMessage['headers']) => ({
    ...headers,
    'x-forwarded-for': '192.0.2.7',
  })
  proxy.change = forwarding
  expect(await codes()).toEqual(['ok public_ok'])
  proxy.change = (headers) => ({ ...forwarding(headers), host: '127.0.0.1:1' })
  expect(await codes()).toEqual(['warn proxy_other_host'])
  // A proxy that does not pass the header on, and another server.
  proxy.change = ({ 'x-nanoclaw-probe': _, ...headers }) => headers
  expect(await codes()).toEqual(['fail public_elsewhere'])
  proxy.change = forwarding
  proxy.target = (await start()).url
  expect(await codes()).toEqual(['fail public_elsewhere'])
  expect((await checkPublicAddress('http://127.0.0.1:1', settings))[0]).toMatchObject({
    state: 'warn',
    code: 'public_unreachable',
  })
  expect(await checkPublicAddress(null, settings)).toEqual([])
})

test('a proxy that is not trusted is named with what to write, and one behind https that sends no address too', async () => {
  const settings = await databases.migrated('sqlite')
  const proxy = await startProxy()
  const config = { ...databaseKeys(settings), public_url: proxy.url, trusted_proxies: [] }
  proxy.target = (await start({ config })).url
  proxy.change = (headers) => ({ ...headers, 'x-forwarded-for': '192.0.2.7' })
  expect(await checkPublicAddress(proxy.url, settings)).toMatchObject([
    { code: 'proxy_not_trusted', advice: expect.stringContaining('trusted_proxies: [127.0.0.1]') },
  ])
  const seen = { address: '10.0.0.9', peer: '10.0.0.9', host: 'chat.example.org' }
  expect(
    proxyFaults('https://chat.example.org', { ...seen, isForwarded: false }).map(
      ({ code }) => code,
    ),
  ).toEqual(['proxy_without_addresses'])
})

test('a stranger learns nothing from /healthz, whatever probe he sends', async () => {
  const { url } = await start()
  for (const probe of ['', 'x', `${'a'.repeat(27)}.${'b'.repeat(43)}`]) {
    const response = await fetch(`${url}/healthz`, { headers: { 'x-nanoclaw-probe': probe } })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-nanoclaw-seen')).toBeNull()
  }
})

test('a clock that is far from that of a provider is named with the difference; none without another clock', async () => {
  const sqlite = await databases.migrated('sqlite')
  expect(await checkClock(sqlite, null)).toEqual([])
  let ahead = 0
  const url = await listening((_request, response) => {
    response.setHeader('date', new Date(Date.now() + ahead).toUTCString())
    response.writeHead(404).end()
  })
  expect(await checkClock(sqlite, url)).toMatchObject([{ state: 'ok', code: 'clock_ok' }])
  ahead = 3_600_000
  expect(await checkClock(sqlite, url)).toMatchObject([
    { state: 'warn', code: 'clock_behind', params: { seconds: expect.closeTo(3_600, -1) } },
  ])
  ahead = -3_600_000
  expect(await checkClock(sqlite, url)).toMatchObject([{ code: 'clock_ahead' }])
  expect(await checkClock(sqlite, 'http://127.0.0.1:1')).toEqual([])
  const postgres = await databases.migrated('postgres')
  expect(await checkClock(postgres, null)).toMatchObject([
    { code: 'clock_ok', params: { names: 'PostgreSQL' } },
  ])
})
