// Exporting and importing one conversation over real HTTP, on both databases.
import { beforeAll, expect, test } from 'vitest'
import { type Random, rounds, SEED } from '../../support/random.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server.ts'

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '[link](javascript:alert(1))',
  '![image](https://tracker.example/pixel.png)',
  '<svg/onload=alert(1)>',
  '</pre></p></article><script>alert(1)</script>',
  '``` \n</code></pre><script>alert(1)</script>',
  '<https://example.com/"onmouseover="alert(1)>',
  '```\n````\n~~~',
  '\u202egnp.exe 中文 日本語 한국어 🦀',
]

/** A conversation in export format, with random branches, steps and attachments. */
function randomConversation(random: Random) {
  const text = (): string => `${random.pick(hostile)} ${random.below(1_000_000)}`
  const time = (): string => new Date(1_700_000_000_000 + random.below(1_000_000_000)).toISOString()
  const ids: string[] = []
  const messages = Array.from({ length: random.below(30) }, (_, at) => {
    const id = `m${at}`
    const parent = at === 0 || random.below(10) === 0 ? null : random.pick(ids)
    ids.push(id)
    const role = random.pick(['user', 'assistant'])
    return {
      id,
      parent_id: parent,
      role,
      text: random.below(20) === 0 ? text().repeat(10_000) : text(),
      token_count: random.below(1_000),
      model: role === 'user' ? null : 'a model',
      status: random.pick(['completed', 'stopped', 'failed', 'interrupted']),
      error: random.below(5) === 0 ? text() : null,
      created_at: time(),
      attachments:
        role === 'assistant'
          ? []
          : Array.from({ length: random.below(3) }, () =>
              random.below(2) === 0
                ? { name: text(), extension: 'txt', content: text() }
                : {
                    name: text(),
                    mime: 'image/png',
                    data: Buffer.from(text()).toString('base64'),
                  },
            ),
      steps:
        role === 'user'
          ? []
          : Array.from({ length: random.below(6) }, (__, index) => randomStep(random, index, text)),
    }
  })
  return {
    format: 'nanoclaw',
    version: 1,
    conversation: {
      title: random.below(4) === 0 ? '' : text(),
      model: null,
      system_prompt: random.below(2) === 0 ? null : text(),
      temperature: random.below(2) === 0 ? null : 0.5,
      max_tokens: random.below(2) === 0 ? null : 1 + random.below(1_000),
      thinking_enabled: random.below(2) === 0,
      pinned: random.below(2) === 0,
      archived: random.below(2) === 0,
      leaf_id: ids.length === 0 ? null : random.pick(ids),
      created_at: time(),
      updated_at: time(),
    },
    messages,
  }
}

function randomStep(random: Random, index: number, text: () => string): Record<string, unknown> {
  const place = { id: `step-${index}`, index }
  const type = random.pick(['thinking', 'text', 'tool_call', 'tool_result'])
  if (type === 'thinking' || type === 'text') return { ...place, type, content: text() }
  const call = { ...place, type, id_ref: `call_${index}`, name: 'calculator' }
  if (type === 'tool_call') return { ...call, arguments: text() }
  const artifact = { display: text(), diff: text(), extra: [1, { deep: null }] }
  return {
    ...call,
    content: text(),
    skipped: random.below(2) === 0,
    ...(random.below(2) === 0 ? { artifact } : {}),
  }
}

/** The same conversation with its ids replaced by numbers in message order. */
function withoutIds(exported: ReturnType<typeof randomConversation>): unknown {
  const at = new Map(exported.messages.map(({ id }, index) => [id, `m${index}`]))
  const name = (id: string | null): string | null => (id === null ? null : (at.get(id) ?? id))
  return {
    ...exported,
    conversation: { ...exported.conversation, leaf_id: name(exported.conversation.leaf_id) },
    messages: exported.messages.map((message) => ({
      ...message,
      id: name(message.id),
      parent_id: name(message.parent_id),
    })),
  }
}

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
    expect(html).toContain('<a rel="nofollow noopener noreferrer" href="https://example.com">')
    expect(html).toContain('<table>')
  })

  test('a file name is derived from the title, without characters that systems reserve', async () => {
    const { id } = (await importIt(one('x', '../旅行: plan\u202e "a"\\b'))).json.data
    const header = (await read(id, 'md')).headers.get('content-disposition')
    expect(header).toBe(
      `attachment; filename="__ plan a b.md"; filename*=UTF-8''${encodeURIComponent('旅行 plan a b.md')}`,
    )
  })

  test("another user's conversation is 404, and an unknown format is 400", async () => {
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
