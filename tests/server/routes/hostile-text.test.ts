// Text that is difficult for databases, JSON or limits is refused or stored safely, and never causes a server error.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const texts: readonly (readonly [string, string])[] = [
  ['a NUL', 'a\u0000b'],
  ['nothing but a NUL', '\u0000'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', '\udfff'],
  ['a text beyond every limit', 'x'.repeat(1_000_000)],
  ['control characters', '\u0001\u001b[31m\u007f\u0085'],
  ['directions', '\u202eabc\u2066'],
  ['noncharacters', '\ufffe\uffff\u{10ffff}'],
]

describeOnEachServer('hostile text', (start) => {
  let server: TestServer
  let upstream: Upstream
  let conversation = ''
  beforeAll(async () => {
    // A model that fails at once: its answers do not matter here.
    upstream = await startUpstream()
    upstream.program(() => turn.error(401))
    server = await start({ models: [{ id: 'refusing', api_url: upstream.url }], titles: 'off' })
    conversation = (await server.call('POST', '/api/conversations', {})).json.data.id
  })

  afterAll(() => upstream.close())

  test.each(texts)('%s in any part of a request causes no server error', async (_name, text) => {
    const path = `/api/conversations/${conversation}`
    const asQuery = encodeURIComponent(text.slice(0, 4_000).replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    const requests: readonly (readonly [string, string, object | undefined])[] = [
      ['POST', '/api/conversations', { title: text }],
      ['POST', '/api/conversations', { system_prompt: text }],
      ['POST', '/api/conversations', { model: text }],
      ['POST', '/api/conversations', { disabled_mcp_servers: [text] }],
      ['PATCH', path, { title: text }],
      ['PATCH', path, { system_prompt: text }],
      ['PATCH', path, { leaf_id: text }],
      ['POST', `${path}/messages`, { text, stream: false }],
      ['POST', `${path}/messages`, { text: 'hi', stream: false, client_id: text }],
      ['POST', `${path}/messages`, { text: 'hi', stream: false, parent_id: text }],
      ['POST', `${path}/messages`, { stream: false, attachments: [{ name: text, content: 'a' }] }],
      ['POST', `${path}/messages`, { stream: false, attachments: [{ name: 'a', content: text }] }],
      ['PUT', '/api/memory', { content: text }],
      ['GET', `/api/conversations?q=${asQuery}`, undefined],
      ['GET', `/api/conversations?project_id=${asQuery}`, undefined],
      ['GET', `/api/conversations?cursor=${asQuery}`, undefined],
      ['GET', `${path}/messages?cursor=${asQuery}`, undefined],
      ['GET', `/api/conversations/${asQuery.slice(0, 300)}`, undefined],
      ['GET', `/api/runs/${asQuery.slice(0, 300)}`, undefined],
    ]
    for (const [method, place, body] of requests) {
      const { status, json } = await server.call(method, place, body === undefined ? {} : { body })
      const asked = `${method} ${place.slice(0, 60)} ${JSON.stringify(body ?? null).slice(0, 60)}`
      expect(status, asked).toBeLessThan(500)
      if (status >= 400)
        expect(json, asked).toMatchObject({
          error: expect.any(String),
          request_id: expect.any(String),
        })
    }
    // Everything that was stored can be read back.
    for (const place of ['/api/conversations?limit=100', path, `${path}/messages`, '/api/memory'])
      expect((await server.call('GET', place)).status, place).toBe(200)
  })
})
