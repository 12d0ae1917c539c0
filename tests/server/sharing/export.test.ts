// Exporting and importing one conversation over real HTTP, on both databases.
import { beforeAll, expect, test } from 'vitest'
import { rounds, SEED } from '../../support/random.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { hostile, randomConversation, withoutIds } from '../../support/store/conversations.ts'

describeOnEachServer('export and import', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  const importIt = (body: unknown, token = ann) =>
    server.call('POST', '/api/conversations/import', { body, token })
  const read = (id: string, format: string, token = ann): Promise<Response> =>
    fetch(`${server.url}/api/conversations/${id}/export?format=${format}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  /** The wire format; the assertions check it. */
  const readJson = async (id: string): Promise<ReturnType<typeof randomConversation>> =>
    JSON.parse(await (await read(id, 'json')).text())
  const one = (text: string, title = 'A title') => ({
    format: 'nanoclaw',
    version: 1,
    conversation: {
      ...randomConversation({
        share: () => 0,
        below: () => 0,
        pick: ([first]) => first as never,
        shuffle: (items) => [...items],
      }).conversation,
      title,
      leaf_id: 'b',
    },
    messages: [
      {
        id: 'a',
        parent_id: null,
        role: 'user',
        text,
        token_count: 1,
        model: null,
        status: 'completed',
        error: null,
        created_at: '2026-01-01T00:00:00.000Z',
        attachments: [{ name: text, content: text }],
        steps: [],
      },
      {
        id: 'b',
        parent_id: 'a',
        role: 'assistant',
        text,
        token_count: 1,
        model: text,
        status: 'completed',
        error: text,
        created_at: '2026-01-01T00:00:01.000Z',
        attachments: [],
        steps: [
          { id: 'step-0', index: 0, type: 'text', content: text },
          { id: 'step-1', index: 1, type: 'thinking', content: text },
          { id: 'step-2', index: 2, type: 'tool_call', id_ref: 'c', name: text, arguments: text },
        ],
      },
    ],
  })

  test(`an exported conversation is the same after its import (SEED=${SEED})`, async () => {
    for (const { random, what } of rounds(12)) {
      const given = randomConversation(random)
      const imported = await importIt(given)
      expect(imported.status, `${what} ${JSON.stringify(imported.json)}`).toBe(200)
      const exported = await readJson(imported.json.data.id)
      expect(withoutIds(exported), what).toEqual(given)
    }
  })

  test('an imported conversation has the approval mode of a new one, whatever the file says', async () => {
    const { id } = (await importIt({ ...one('text'), approval: 'auto' })).json.data
    const shown = (await server.call('GET', `/api/conversations/${id}`, { token: ann })).json.data
    expect(shown).toMatchObject({ title: 'A title', approval: null, message_count: 2 })
    const { items } = (
      await server.call('GET', `/api/conversations/${id}/messages`, { token: ann })
    ).json.data
    expect(items.map(({ text }: { text: string }) => text)).toEqual(['text', 'text'])
  })

  test('code that a message leaves open ends with it in Markdown, and code that it closes stays as it is', async () => {
    const open = (await importIt(one('Look:\n\n```ts\nconst a = 1'))).json.data
    const cut = await (await read(open.id, 'md')).text()
    expect(cut.split('const a = 1\n```\n\n').length).toBe(3)
    const closed = (await importIt(one('````md\n```ts\n1\n```\n````\n\nDone.'))).json.data
    const whole = await (await read(closed.id, 'md')).text()
    expect(whole.split('````md\n```ts\n1\n```\n````\n\nDone.\n\n').length).toBe(3)
  })

  test.each(hostile)('the text %j never becomes HTML', async (text) => {
    const { id } = (await importIt(one(text, text.slice(0, 200)))).json.data
    const answer = await read(id, 'html')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="/)
    const html = await answer.text()
    expect(html).not.toMatch(/<(script|svg|iframe|object)/i)
    expect(html).not.toMatch(/<[^>]*\son\w+=/i)
    expect(html).not.toMatch(/(href|src)="(javascript|https?:\/\/tracker)[^"]*"(?![^<]*<\/a>)/i)
    expect(html).not.toMatch(/<img[^>]+src="(?!data:)/i)
    expect(html).toContain('Content-Security-Policy')
    // Every text is either fenced or the user's own Markdown.
    expect(await (await read(id, 'md')).text()).toContain(text)
  })

  test('Markdown is rendered in HTML, and links do not send a referrer', async () => {
    const { id } = (
      await importIt(one('**bold** [site](https://example.com)\n\n| a |\n| - |\n| 1 |'))
    ).json.data
    const html = await (await read(id, 'html')).text()
    expect(html).toContain('<strong>bold</strong>')
    // The font of formulas is only in files with formulas.
    expect(html).not.toContain('STIX Two Math";font-weight')
    const formula = (await importIt(one('$x^2$'))).json.data
    expect(await (await read(formula.id, 'html')).text()).toContain('STIX Two Math";font-weight')
    expect(html).toContain('<a rel="nofollow noopener noreferrer" href="https://example.com">')
    expect(html).toContain('<table')
    const chinese = { 'accept-language': 'zh-CN', authorization: `Bearer ${ann}` }
    for (const [format, heading] of Object.entries({ md: '## 用户', html: '<h2>用户</h2>' })) {
      const path = `${server.url}/api/conversations/${id}/export?format=${format}`
      const response = await fetch(path, { headers: chinese })
      expect(response.headers.get('content-language')).toBe('zh-CN')
      expect(response.headers.get('vary')).toContain('accept-language')
      expect(await response.text()).toContain(heading)
    }
  })

  test('exported files call a model by its name, and by its id once the model is gone', async () => {
    const file = one('x')
    for (const [model, name] of [
      ['demo', 'Demo (no language model)'],
      ['long-gone', 'long-gone'],
    ] as const) {
      Object.assign(file.messages[1] ?? {}, { model })
      const { id } = (await importIt(file)).json.data
      expect(await (await read(id, 'html')).text()).toContain(`<h2>${name}</h2>`)
      expect(await (await read(id, 'md')).text()).toContain(` (${name})\n`)
    }
  })

  test('a file name is derived from the title, without characters that systems reserve', async () => {
    const { id } = (await importIt(one('x', '../旅行: plan\u202e "a"\\b'))).json.data
    const header = (await read(id, 'md')).headers.get('content-disposition')
    expect(header).toBe(
      `attachment; filename="__ plan a b.md"; filename*=UTF-8''${encodeURIComponent('旅行 plan a b.md')}`,
    )
  })

  test("another user's conversation returns 404, and an unknown format returns 400", async () => {
    const { id } = (await importIt(one('mine'))).json.data
    expect((await read(id, 'json', bob)).status).toBe(404)
    expect((await read(id, 'pdf')).status).toBe(400)
  })

  test.each([
    [
      'a missing parent',
      (file: ReturnType<typeof one>) => file.messages[1] ?? {},
      'parent_id',
      'nobody',
    ],
    ['a cycle', (file: ReturnType<typeof one>) => file.messages[0] ?? {}, 'parent_id', 'b'],
    ['a repeated id', (file: ReturnType<typeof one>) => file.messages[1] ?? {}, 'id', 'a'],
    ['a missing leaf', (file: ReturnType<typeof one>) => file.conversation, 'leaf_id', 'nobody'],
  ])('%s is refused, and nothing is stored', async (_what, place, field, value) => {
    const before = (await server.call('GET', '/api/conversations', { token: bob })).json.data.items
    const file = one('text')
    Object.assign(place(file), { [field]: value })
    expect((await importIt(file, bob)).status).toBe(400)
    const after = (await server.call('GET', '/api/conversations', { token: bob })).json.data.items
    expect(after).toEqual(before)
  })

  test('NUL and lone surrogates are stored as replacement characters', async () => {
    const { id } = (await importIt(one('a\0b\ud800c'))).json.data
    const exported = await readJson(id)
    expect(exported.messages[0]?.text).toBe('a\ufffdb\ufffdc')
  })
})
