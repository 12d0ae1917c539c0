// Sharing a conversation over real HTTP, on both databases.
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const PIXEL = Buffer.from('not really a picture').toString('base64')

const ANSWER = 'The **answer** <script>x</script>'

/** The result of a search in documents, with what it cites. */
const searched = (citations: object[], index: number) => ({
  id: `step-${index}`,
  index,
  type: 'tool_result',
  id_ref: 'searched',
  name: 'search_documents',
  content: '{"success":true}',
  skipped: false,
  artifact: { display: '', citations },
})

describeOnEachServer('sharing', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  const message = (id: string, parent: string | null, role: string, text: string) => ({
    id,
    parent_id: parent,
    role,
    text,
    token_count: 1,
    model: null,
    status: 'completed',
    error: null,
    created_at: '2026-01-01T00:00:00.000Z',
    attachments: [] as unknown[],
    steps: [] as unknown[],
  })
  /** Creates a conversation of Ann's with two branches, an image, thinking and a tool call. */
  const make = async (question = 'What is shown?'): Promise<string> => {
    const call = { id_ref: 'c', name: 'file_read' }
    const body = {
      format: 'nanoclaw',
      version: 1,
      conversation: {
        title: 'A <b>title</b>',
        model: null,
        system_prompt: 'secret-system-prompt',
        temperature: null,
        max_tokens: null,
        thinking_enabled: false,
        pinned: false,
        archived: false,
        leaf_id: 'b',
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
      },
      messages: [
        {
          ...message('a', null, 'user', question),
          attachments: [
            { name: 'secret-name.png', mime: 'image/png', data: PIXEL },
            { name: 'notes.txt', content: 'secret-notes' },
          ],
        },
        {
          ...message('b', 'a', 'assistant', 'The **answer**'),
          steps: [
            { id: 'step-0', index: 0, type: 'thinking', content: 'secret-thought' },
            { id: 'step-1', index: 1, type: 'tool_call', ...call, arguments: 'secret-argument' },
            {
              id: 'step-2',
              index: 2,
              type: 'tool_result',
              ...call,
              content: 'secret-result',
              skipped: false,
            },
            searched([{ document_id: 'd', document: 'secret-handbook.pdf', heading: 'Tea' }], 3),
            {
              id: 'step-4',
              index: 4,
              type: 'tool_result',
              ...call,
              name: 'web_search',
              content: JSON.stringify({
                success: true,
                data: { results: [{ url: 'https://www.leaf.example/<tea>', title: 'On <tea>' }] },
              }),
              skipped: false,
            },
            { id: 'step-5', index: 5, type: 'text', content: `${ANSWER} [1, 2]` },
          ],
        },
        message('c', 'a', 'assistant', 'secret-branch'),
      ],
    }
    const created = await server.call('POST', '/api/conversations/import', { token: ann, body })
    return created.json.data.id
  }
  const share = async (id: string, body: unknown = {}, token = ann) =>
    server.call('POST', `/api/conversations/${id}/share`, { token, body })
  const open = (token: string, headers: Record<string, string> = {}) =>
    server.call('GET', `/api/shared/${token}`, { headers })
  const page = (token: string, init: RequestInit = {}) => fetch(`${server.url}/s/${token}`, init)

  test('a share contains the texts of the shown branch and nothing that was not selected', async () => {
    const { token, url } = (await share(await make())).json.data
    expect(token).toMatch(/^[\w-]{22}$/)
    expect(url).toBe(`${server.url}/s/${token}`)
    const shared = await open(token)
    expect(shared.json.data.messages).toEqual([
      expect.objectContaining({ role: 'user', text: 'What is shown?', steps: [], files: [] }),
      expect.objectContaining({
        role: 'assistant',
        steps: [{ type: 'text', content: `${ANSWER} [1, 2]` }],
        // Names of documents are no part of the texts.
        sources: [
          {
            number: 2,
            title: 'On <tea>',
            place: 'leaf.example',
            url: 'https://www.leaf.example/%3Ctea%3E',
          },
        ],
      }),
    ])
    const html = await (await page(token)).text()
    // A number in brackets leads to its source; one of a source that is not shown stays as written.
    expect(html).toContain(
      '[1]<a class="citation" rel="nofollow noopener noreferrer" href="https://www.leaf.example/%3Ctea%3E">2</a>',
    )
    for (const text of [JSON.stringify(shared.json), html]) expect(text).not.toContain('secret-')
    expect((await server.call('GET', `/api/shared/${token}/files/0`)).status).toBe(404)
  })

  test('a share contains files, tools and thinking if selected, but no other branch', async () => {
    const include = ['files', 'tools', 'thinking']
    const { token } = (await share(await make(), { include })).json.data
    const html = await (await page(token)).text()
    expect(html).toContain('<li value="1" dir="auto">secret-handbook.pdf <span>Tea</span></li>')
    expect(html).toContain('href="https://www.leaf.example/%3Ctea%3E">On &lt;tea&gt;</a>')
    for (const shown of ['secret-thought', 'secret-argument', 'secret-result', 'secret-name.png'])
      expect(html).toContain(shown)
    expect(html).toContain('<summary>Tool call: Read file</summary>')
    // The steps between two texts are one line, which unfolds.
    expect(html.match(/<details class="steps"><summary>Steps: \d+<\/summary>/g)).toHaveLength(1)
    for (const hidden of ['secret-branch', 'secret-system-prompt', 'secret-notes'])
      expect(html).not.toContain(hidden)
    const image = await fetch(`${server.url}/api/shared/${token}/files/0`)
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(PIXEL)
    expect(image.headers.get('x-content-type-options')).toBe('nosniff')
    const notes = await fetch(`${server.url}/api/shared/${token}/files/1`)
    expect(await notes.text()).toBe('secret-notes')
    expect(notes.headers.get('content-disposition')).toMatch(/^attachment;/)
  })

  test('the page has only its own script, escapes every text, and is kept out of indexes and caches', async () => {
    const { token } = (await share(await make('"><img src=x onerror=alert(1)>'))).json.data
    const answer = await page(token)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('x-robots-tag')).toContain('noindex')
    const html = await answer.text()
    expect(html).toContain('<strong>answer</strong>')
    expect(html).toContain('property="og:title" content="A &lt;b&gt;title&lt;/b&gt;"')
    const [script = '', ...others] = [...html.matchAll(/<script>([^<]*)<\/script>/g)].map(
      ([, text = '']) => text,
    )
    expect(others).toEqual([])
    const hash = createHash('sha256').update(script).digest('base64')
    expect(answer.headers.get('content-security-policy')).toContain(
      `; script-src 'sha256-${hash}';`,
    )
    expect(html.replace(`<script>${script}</script>`, '')).not.toMatch(/<script|<img|<b>/i)
    expect(html).toContain('<html lang="en"')
    const chinese = await page(token, {
      headers: { 'accept-language': 'sv, zh-TW;q=0.8, en;q=0.5' },
    })
    expect(chinese.headers.get('content-language')).toBe('zh-TW')
    expect(chinese.headers.get('vary')).toContain('accept-language')
    expect(await chinese.text()).toMatch(/<html lang="zh-TW"[\s\S]*<h2>助理<\/h2>/)
    const gone = await page('nothing', { headers: { 'accept-language': 'zh' } })
    expect(await gone.text()).toContain('此链接已失效')
  })

  test('a copy stays as it was until it is renewed under the same link', async () => {
    const id = await make()
    const { token } = (await share(id)).json.data
    const [, , other] = await messagesOf(id)
    await server.call('PATCH', `/api/conversations/${id}`, {
      token: ann,
      body: { title: 'Renewed', leaf_id: other },
    })
    expect((await open(token)).json.data.title).toBe('A <b>title</b>')
    expect((await share(id)).json.data.token).toBe(token)
    expect((await open(token)).json.data).toMatchObject({
      title: 'Renewed',
      messages: [{}, { steps: [{ content: 'secret-branch' }] }],
    })
  })
  const messagesOf = async (id: string): Promise<string[]> => {
    const exported = await server.call('GET', `/api/conversations/${id}/export?format=json`, {
      token: ann,
    })
    const { messages } = exported.json as unknown as { messages: { id: string }[] }
    return messages.map((one) => one.id)
  }

  test('a revoked share, an expired one and one of a deleted conversation return 404 at once', async () => {
    const revoked = await make()
    const first = (await share(revoked)).json.data.token
    expect((await open(first)).status).toBe(200)
    const remove = `/api/conversations/${revoked}/share`
    expect((await server.call('DELETE', remove, { token: bob })).status).toBe(404)
    expect((await server.call('DELETE', remove, { token: ann })).status).toBe(200)
    expect((await open(first)).status).toBe(404)
    expect((await page(first)).status).toBe(404)

    const deleted = await make()
    const second = (await share(deleted)).json.data.token
    await server.call('DELETE', `/api/conversations/${deleted}`, { token: ann })
    expect((await open(second)).status).toBe(404)

    for (const length of [100, 101, 5_000]) {
      const none = 'x'.repeat(length)
      expect([length, (await page(none)).status]).toEqual([length, 404])
      expect([length, (await open(none)).status]).toEqual([length, 404])
    }

    const past = await share(await make(), { expires_at: '2020-01-01T00:00:00Z' })
    expect(past.status).toBe(400)
  })

  test("a user lists and shares only the user's own conversations", async () => {
    const id = await make()
    expect((await share(id, {}, bob)).status).toBe(404)
    const { token } = (await share(id, { password: 'open sesame' })).json.data
    const { items } = (await server.call('GET', '/api/shares?limit=1', { token: ann })).json.data
    expect(items).toEqual([
      expect.objectContaining({ conversation_id: id, token, has_password: true, views: 0 }),
    ])
    expect((await server.call('GET', '/api/shares', { token: bob })).json.data.items).toEqual([])
  })

  test('a password protects the JSON, the page and the files, and its form needs no script', async () => {
    const id = await make()
    const { token } = (await share(id, { password: 'open sesame', include: ['files'] })).json.data
    expect((await open(token)).status).toBe(401)
    expect((await open(token, { 'x-share-password': 'wrong' })).status).toBe(401)
    expect((await open(token, { 'x-share-password': 'open sesame' })).status).toBe(200)
    const closed = await page(token)
    expect(closed.status).toBe(401)
    const form = await closed.text()
    expect(form).toContain('<form method="post">')
    expect(form).not.toContain('title</b>')
    expect(form).not.toContain('og:')
    const sent = await page(token, {
      method: 'POST',
      body: new URLSearchParams({ password: 'open sesame' }),
    })
    expect(await sent.text()).toContain('What is shown?')
    const cookie = sent.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect(sent.headers.getSetCookie()[0]).toContain('HttpOnly; SameSite=Lax')
    expect((await page(token, { headers: { cookie } })).status).toBe(200)
    const file = await fetch(`${server.url}/api/shared/${token}/files/0`, { headers: { cookie } })
    expect(file.status).toBe(200)
    await share(id, { password: 'another one' })
    expect((await page(token, { headers: { cookie } })).status).toBe(401)
    await share(id, { password: null })
    expect((await open(token)).status).toBe(200)
  })

  test('a password that is not ASCII is accepted in the header as bytes of UTF-8 and percent-encoded, one with a percent sign as it is', async () => {
    const id = await make()
    for (const password of ['schöne Grüße', '打开吧', '100%41']) {
      const { token } = (await share(id, { password })).json.data
      const sent = [encodeURIComponent(password), Buffer.from(password).toString('latin1')]
      for (const header of sent)
        expect((await open(token, { 'x-share-password': header })).status).toBe(200)
      expect((await open(token, { 'x-share-password': `${sent[0]}x` })).status).toBe(401)
    }
  })

  test.each([0, 1, 100, 101, 4_096, 4_097, 15_000])(
    'a link of %s characters that does not exist is a 404, as page, JSON, file and copy',
    async (length) => {
      const token = 'a'.repeat(length)
      for (const path of [
        `/s/${token}`,
        `/s/${token}/more`,
        `/api/shared/${token}`,
        `/api/shared/${token}/files/0`,
      ]) {
        const response = await fetch(`${server.url}${path}`)
        expect({ path: path.slice(0, 20), status: response.status }).toMatchObject({ status: 404 })
      }
      const form = { method: 'POST', body: new URLSearchParams({ password: 'x' }) }
      expect((await fetch(`${server.url}/s/${token}`, form)).status).toBe(404)
      expect(
        (await server.call('POST', `/api/shared/${token}/continue`, { token: ann })).status,
      ).toBe(404)
    },
  )

  test('the twenty-first password for a link returns 429', async () => {
    const { token } = (await share(await make(), { password: 'open sesame' })).json.data
    const guess = () => open(token, { 'x-share-password': 'a guess' })
    for (let count = 0; count < 20; count += 1) expect((await guess()).status).toBe(401)
    const refused = await guess()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('opening the page counts as a view, reading the JSON does not', async () => {
    const id = await make()
    const { token } = (await share(id)).json.data
    await open(token)
    await (await page(token)).text()
    await (await page(token)).text()
    const { items } = (await server.call('GET', '/api/shares?limit=1', { token: ann })).json.data
    expect(items[0]).toMatchObject({ conversation_id: id, views: 2 })
  })

  test('another user continues a share in a conversation of their own, without thinking and tools', async () => {
    const include = ['tools', 'thinking']
    const { token } = (await share(await make(), { include })).json.data
    const path = `/api/shared/${token}/continue`
    expect((await server.call('POST', path)).status).toBe(401)
    const { id } = (await server.call('POST', path, { token: bob })).json.data
    const { items } = (
      await server.call('GET', `/api/conversations/${id}/messages`, { token: bob })
    ).json.data
    expect(items).toHaveLength(2)
    expect(JSON.stringify(items)).not.toContain('secret-')
    expect((await server.call('GET', `/api/conversations/${id}`, { token: ann })).status).toBe(404)
  })

  test('without sharing, nothing is shared and every link returns 404', async () => {
    const off = await start({ sharing: 'off' })
    const created = await off.call('POST', '/api/conversations', { body: {} })
    const refused = await off.call('POST', `/api/conversations/${created.json.data.id}/share`)
    expect(refused.status).toBe(403)
    expect((await off.call('GET', '/api/shared/anything')).status).toBe(404)
    expect((await fetch(`${off.url}/s/anything`)).status).toBe(404)
  })
})
