// Long messages: pages stay small, nothing is skipped, and contents are sent only when they are requested.
import { expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

/** The start of a PNG, followed by bytes that a conversion to text would corrupt. */
const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  Buffer.from(Array.from({ length: 300_001 }, (_, at) => (at * 7) % 256)),
])
/** The upper bound of a page as JSON, which holds about a million bytes of text before escaping. */
const PAGE_CHARACTERS = 3_000_000

describeOnEachServer('long messages', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [
      { id: 'seeing', api_url: upstream.url, vision: true, context_window: 10_000_000 },
      { id: 'blind', api_url: upstream.url },
    ],
    titles: 'off',
    limits: { attachments: '500KB' },
  })
  const { call } = accounts

  const newConversation = async (): Promise<string> =>
    (await call('POST', '/api/conversations', {})).json.data.id
  const send = (id: string, body: object) =>
    call('POST', `/api/conversations/${id}/messages`, { stream: false, ...body })
  /** Every message of the branch, oldest first, and the lengths of the pages. */
  async function pages(id: string) {
    const items: { id: string; text: string; process_steps?: { content: string }[] }[] = []
    const lengths: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json }: Awaited<ReturnType<typeof call>> = await call(
        'GET',
        `/api/conversations/${id}/messages?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      items.unshift(...json.data.items)
      lengths.push(JSON.stringify(json).length)
      expect(json.data.has_more).toBe(json.data.next_cursor !== null)
      cursor = json.data.next_cursor
    }
    return { items, lengths }
  }

  test('a page of long messages ends early, and no message is skipped', async () => {
    const id = await newConversation()
    const texts = Array.from({ length: 4 }, (_, at) => `${at} ${'é中🦀"'.repeat(20_000)}`)
    for (const text of texts) {
      upstream.enqueue(turn.text(text))
      const answered = (await send(id, { text })).json.data.message.text
      expect(answered === text, 'the whole text').toBe(true)
    }
    const { items, lengths } = await pages(id)
    const shown = items.map(({ text }) => text)
    expect(shown).toHaveLength(2 * texts.length)
    expect(shown.join() === texts.flatMap((text) => [text, text]).join()).toBe(true)
    const steps = items.flatMap((one) => one.process_steps?.map(({ content }) => content) ?? [])
    expect(steps.join() === texts.join()).toBe(true)
    expect(lengths.length).toBeGreaterThan(1)
    expect(Math.max(...lengths)).toBeLessThan(PAGE_CHARACTERS)
  })

  test('attachments are listed without their contents, which have a separate URL', async () => {
    const id = await newConversation()
    upstream.enqueue(turn.text('A picture.'), turn.text('Again.'), turn.text('And once more.'))
    await send(id, {
      text: 'What is it?',
      attachments: [
        { name: 'a "b" 中.png', mime: 'image/png', data: PNG.toString('base64') },
        { name: 'page.html', extension: 'html', content: '\ufeff<script>alert(1)</script> é' },
      ],
    })
    const [question, answer] = (await pages(id)).items
    expect(question).toMatchObject({
      attachments: [
        { name: 'a "b" 中.png', mime: 'image/png', size: PNG.length },
        { name: 'page.html', mime: 'text/plain', extension: 'html', size: 31 },
      ],
    })
    expect(JSON.stringify(question).length).toBeLessThan(2_000)
    const address = (position: number | string, message = question?.id): string =>
      `${accounts.server.url}/api/conversations/${id}/messages/${message}/attachments/${position}`
    const get = (url: string, token = accounts.ann) =>
      fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const image = await get(address(0))
    expect(image.headers.get('content-type')).toBe('image/png')
    expect(image.headers.get('content-security-policy')).toContain('sandbox')
    expect(image.headers.get('x-content-type-options')).toBe('nosniff')
    expect(Buffer.from(await image.arrayBuffer()).equals(PNG)).toBe(true)
    const text = await get(address(1))
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(Buffer.from(await text.arrayBuffer()).toString()).toBe(
      '\ufeff<script>alert(1)</script> é',
    )
    for (const [url, token] of [
      [address(0), accounts.bob],
      [address(2), accounts.ann],
      [address(0, answer?.id), accounts.ann],
    ] as const)
      expect((await get(url, token)).status).toBe(404)
    expect((await get(address('x'))).status).toBe(400)

    const edited = await call('PATCH', `/api/conversations/${id}/messages/${question?.id}`, {
      text: 'Look again.',
      stream: false,
    })
    expect(edited.status).toBe(200)
    await call('POST', `/api/conversations/${id}/regenerate/${edited.json.data.message.id}`, {
      stream: false,
    })
    for (const { messages } of upstream.requests.slice(-2)) {
      const content = JSON.stringify(messages.at(-1)?.content)
      expect(content).toContain('Look again.')
      expect(content).toContain(PNG.toString('base64'))
      expect(content).toContain('alert(1)')
    }
    expect((await pages(id)).items[0]).toMatchObject({ attachments: [{ size: PNG.length }, {}] })
    const blind = await call('PATCH', `/api/conversations/${id}/messages/${question?.id}`, {
      text: 'Now?',
      stream: false,
      model: 'blind',
    })
    expect(blind.json).toMatchObject({ code: 400, error: 'bad_attachment' })
  })

  test('the size limit applies to all attachments of a message together', async () => {
    const id = await newConversation()
    const file = { name: 'a.txt', content: 'x'.repeat(300_000) }
    const refused = await send(id, { text: 'Hi', attachments: [file, file] })
    expect(refused.json).toMatchObject({ code: 413, error: 'payload_too_large' })
    expect((await pages(id)).items).toEqual([])
  })
})
