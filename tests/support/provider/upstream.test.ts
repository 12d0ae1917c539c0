// The scripted provider behaves as its interface documents.
import { afterEach, describe, expect, test } from 'vitest'
import { refusingUrl, startUpstream, type Upstream } from './upstream.ts'
import { startUpstreamProcess } from './upstream-process.ts'
import { benchProgram, plan } from './upstream-programs.ts'
import { turn } from './upstream-turns.ts'

const open: Upstream[] = []
const start = async (): Promise<Upstream> => {
  const upstream = await startUpstream()
  open.push(upstream)
  return upstream
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((upstream) => upstream.close()))
})

const ask = (
  upstream: { url: string },
  body: Record<string, unknown> = {},
  init: RequestInit = {},
): Promise<Response> =>
  fetch(`${upstream.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key-1' },
    body: JSON.stringify({ model: 'test-model', stream: true, messages: [], ...body }),
    ...init,
  })

describe('the scriptable model server', () => {
  test('plays queued turns in order and records the requests', async () => {
    const upstream = await start()
    upstream.enqueue(turn.text('first'), turn.toolCalls([{ name: 'clock', arguments: { a: 1 } }]))
    expect(await (await ask(upstream, { temperature: 0.5 })).text()).toContain('"content":"first"')
    const second = await (await ask(upstream)).text()
    expect(second).toContain('"name":"clock"')
    expect(second).toContain('data: [DONE]')
    expect(upstream.requests.map(({ apiKey, body }) => [apiKey, body.temperature])).toEqual([
      ['key-1', 0.5],
      ['key-1', undefined],
    ])
    upstream.expectDone()
  })

  test('responds without a stream when the request does not ask for one', async () => {
    const upstream = await start()
    upstream.enqueue(turn.text('whole'))
    const answer: unknown = await (await ask(upstream, { stream: false })).json()
    expect(answer).toMatchObject({ choices: [{ message: { content: 'whole' } }] })
  })

  test('separates turns by key and by model', async () => {
    const upstream = await start()
    upstream.enqueueFor({ model: 'small' }, turn.text('S'))
    upstream.enqueueFor({ apiKey: 'key-1' }, turn.text('K'))
    upstream.enqueue(turn.text('any'))
    expect(await (await ask(upstream, { model: 'small' })).text()).toContain('"K"')
    expect(await (await ask(upstream, { model: 'small' })).text()).toContain('"S"')
    expect(await (await ask(upstream, { model: 'small' })).text()).toContain('"any"')
  })

  test('a turn left unused and a request without a turn fail the test', async () => {
    const upstream = await start()
    upstream.enqueue(turn.text('unused'))
    expect(() => upstream.expectDone()).toThrow(/1 for anybody/)
    upstream.reset()
    upstream.expectDone()
    expect((await ask(upstream)).status).toBe(400)
    expect(() => upstream.expectDone()).toThrow(/without a scripted turn/)
  })

  test('notices when a client disconnects', async () => {
    const upstream = await start()
    upstream.enqueue(turn.cut(turn.text('something long enough'), 2, 'stall'))
    const controller = new AbortController()
    const response = await ask(upstream, {}, { signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    expect(await (await upstream.nextRequest()).closed).toBe('client_left')
  })

  test('breaks the connection as the script says', async () => {
    const upstream = await start()
    upstream.enqueue(
      turn.beforeHeaders('reset'),
      turn.cut(turn.text('something'), 2, 'fin'),
      turn.cut(turn.text('something'), 2, 'reset'),
      turn.cut(turn.text('something'), 2, 'end'),
    )
    await expect(ask(upstream)).rejects.toThrow()
    for (const _ of ['fin', 'reset'])
      await expect((async () => (await ask(upstream)).text())()).rejects.toThrow()
    expect(await (await ask(upstream)).text()).not.toContain('[DONE]')
    await expect(ask({ url: await refusingUrl() })).rejects.toThrow()
  })

  test('holds a response back until the test releases it', async () => {
    const upstream = await start()
    let letGo: () => void = () => {}
    const until = new Promise<void>((resolve) => {
      letGo = resolve
    })
    upstream.enqueue(turn.text('later', { until }))
    const response = await ask(upstream)
    const reader = response.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    expect(first).not.toContain('later')
    letGo()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('later')
  })

  test('runs programs that depend on the request alone', async () => {
    const upstream = await start()
    upstream.program(plan(turn.toolCalls([{ name: 'clock' }]), turn.text('after')))
    const asked = { role: 'user', content: 'time?' }
    expect(await (await ask(upstream, { messages: [asked] })).text()).toContain('clock')
    const results = [asked, { role: 'assistant' }, { role: 'tool', content: '{}' }]
    expect(await (await ask(upstream, { messages: results })).text()).toContain('after')
  })

  test('gives benchmark models responses of the length in their name, also from a separate process', async () => {
    const upstream = await start()
    upstream.program(benchProgram)
    const text = await (await ask(upstream, { model: 'bench-50' })).text()
    expect(text.split('"content"').length - 1).toBe(50)
    const child = await startUpstreamProcess()
    try {
      const far = await (await ask(child, { model: 'bench-50-each' })).text()
      expect(far).toBe(text)
    } finally {
      await child.close()
    }
  })
})
