// The shipped nginx.conf in front of an instance, with another one that is lost. On Debian: apt-get install nginx.
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { freePort } from '../../support/server/free-port.ts'
import { hasNginx, type Nginx, startNginx } from '../../support/server/nginx.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { setUp } from '../../support/sign-in/single-sign-on.ts'

const upstream = await useUpstream()

describe.skipIf(!hasNginx)('behind the shipped nginx.conf (needs the package nginx)', () => {
  const { start } = useServers()
  let server: TestServer
  let nginx: Nginx | undefined
  let url: string
  let token: string
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    server = await start({
      config: {
        ...scripted(upstream),
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        registration: 'open',
        public_url: url,
        trusted_proxies: ['127.0.0.1'],
      },
    })
    // The first account needs the setup link, because the server has a public URL.
    token = await setUp(server)
    nginx = await startNginx(port, [server.url, `http://127.0.0.1:${await freePort()}`])
  })
  afterAll(() => nginx?.close())

  const headers = () => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

  /** The status of a sign-in with a wrong password from this address, which claims to be another one. */
  const guess = (localAddress: string, username: string, claimed: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${url}/api/auth/login`,
        {
          method: 'POST',
          localAddress,
          headers: { 'content-type': 'application/json', 'x-forwarded-for': claimed },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      sent.on('error', reject)
      sent.end(JSON.stringify({ username, password: 'wrong password' }))
    })

  test('a client that invents addresses exhausts its own attempts and nobody else’s', async () => {
    const statuses: number[] = []
    for (let at = 0; at < 13; at += 1)
      statuses.push(await guess('127.0.0.2', `somebody-${at}`, `198.51.100.${at}`))
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(3).fill(429)])
    expect(await guess('127.0.0.3', 'somebody-else', '198.51.100.1')).toBe(401)
  })

  test('every request is answered once although one of the two instances is lost', async () => {
    const titles = Array.from({ length: 20 }, (_, at) => `Conversation ${at}`)
    for (const title of titles) {
      const response = await fetch(`${url}/api/conversations`, {
        method: 'POST',
        headers: headers(),
        body: JSON.stringify({ title }),
      })
      expect(response.status).toBe(200)
    }
    const { json } = await server.call('GET', '/api/conversations?limit=100', { token })
    const found = json.data.items.map(({ title }: { title: string }) => title)
    expect(found.sort()).toEqual(titles.sort())
  })

  test('an upload of any size reaches the server, which refuses what is too large for it', async () => {
    const content = new Uint8Array(5_000_000).fill(97)
    expect(await uploadFile(url, 'long.txt', content, { token })).toMatchObject({ status: 200 })
    const long = JSON.stringify({ title: 'x'.repeat(11_000_000) })
    const refused = await fetch(`${url}/api/conversations`, {
      method: 'POST',
      headers: headers(),
      body: long,
    })
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { error: 'payload_too_large' },
    ])
  })

  test('the events of an answer arrive while it is written', async () => {
    const { json } = await server.call('POST', '/api/conversations', { body: {}, token })
    const path = `/api/conversations/${json.data.id}`
    const words = Array.from({ length: 40 }, (_, at) => `word${at} `).join('')
    upstream.enqueue(turn.text(words, { delayMs: 50 }))
    const response = await fetch(`${url}${path}/messages`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ text: 'Tell me', stream: true, stream_mode: 'delta' }),
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let text = ''
    let wasActive = false
    for await (const piece of response.body ?? []) {
      text += new TextDecoder().decode(piece)
      if (wasActive || !text.includes('word0')) continue
      const { active_run_id: active } = (await server.call('GET', path, { token })).json.data
      wasActive = active !== null && !text.includes('word39')
    }
    expect(text).toContain('word39')
    expect(wasActive, 'the first words arrived before the last was written').toBe(true)
  })
})
