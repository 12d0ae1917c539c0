// What models get in a conversation whose history is remembered: always what people see, whatever they changed since.
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { hasRedis } from '../../support/store/redis.ts'

const upstream = await useUpstream()
const CONFIG = {
  models: [{ id: 'scripted', api_url: upstream.url, context_window: 16_000 }],
  titles: 'off',
}

const newConversation = async (server: TestServer): Promise<string> =>
  (await server.call('POST', '/api/conversations', { body: {} })).json.data.id

/** Sends a message, or what else starts a run, and waits for its end. */
async function ask(
  server: TestServer,
  path: string,
  body: unknown,
  method = 'POST',
): Promise<string | undefined> {
  const events = await openEvents(`${server.url}${path}`, { body, method })
  return (await events.all()).at(-1)?.event
}
const say = (server: TestServer, id: string, text: string, more: object = {}) =>
  ask(server, `/api/conversations/${id}/messages`, { text, ...more })

const Messages = z.array(z.object({ role: z.string(), content: z.unknown() }))

/** The texts of the last request, without the system prompt. */
const sent = (): string[] =>
  Messages.parse(upstream.requests.at(-1)?.body.messages)
    .filter(({ role }) => role !== 'system')
    .map(({ content }) => String(content))
const shown = async (server: TestServer, id: string) =>
  (await server.call('GET', `/api/conversations/${id}/messages?limit=100`)).json.data.items as {
    id: string
    role: string
    text: string
  }[]

/** A conversation of some turns, all of them remembered. */
async function chat(server: TestServer, id: string, turns: number): Promise<void> {
  for (let at = 0; at < turns; at += 1) {
    upstream.enqueue(turn.text(`A${at}`))
    expect(await say(server, id, `Q${at}`)).toBe('done')
  }
}

const FOUR = ['Q0', 'A0', 'Q1', 'A1', 'Q2', 'A2', 'Q3', 'A3']

describeOnEachServer('a remembered history', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start(CONFIG)
  })

  test('an edited question, a revised answer, a chosen branch and a deletion reach the model', async () => {
    const id = await newConversation(server)
    await chat(server, id, 4)
    const before = await shown(server, id)
    const at = (text: string): string => before.find((one) => one.text === text)?.id ?? ''

    upstream.enqueue(turn.text('A1 again'))
    const path = `/api/conversations/${id}/messages`
    expect(await ask(server, `${path}/${at('Q1')}`, { text: 'Q1 again' }, 'PATCH')).toBe('done')
    expect(sent()).toEqual(['Q0', 'A0', 'Q1 again'])

    upstream.enqueue(turn.text('A2 of the edit'))
    await say(server, id, 'Q2 of the edit')
    expect(sent()).toEqual(['Q0', 'A0', 'Q1 again', 'A1 again', 'Q2 of the edit'])

    await server.call('PATCH', `/api/conversations/${id}`, { body: { leaf_id: at('A3') } })
    upstream.enqueue(turn.text('A4'))
    await say(server, id, 'Q4')
    expect(sent()).toEqual([...FOUR, 'Q4'])

    const revised = { body: { text: 'A4 revised' } }
    const answer = (await shown(server, id)).at(-1)?.id
    await server.call('POST', `${path}/${answer}/revisions`, revised)
    upstream.enqueue(turn.text('A5'))
    await say(server, id, 'Q5')
    expect(sent()).toEqual([...FOUR, 'Q4', 'A4 revised', 'Q5'])

    expect((await server.call('DELETE', `${path}/${at('Q2')}`)).status).toBeLessThan(300)
    await server.call('PATCH', `/api/conversations/${id}`, { body: { leaf_id: at('A1') } })
    upstream.enqueue(turn.text('A6'))
    await say(server, id, 'Q6')
    expect(sent()).toEqual(['Q0', 'A0', 'Q1', 'A1', 'Q6'])
  })

  test('an answer that was stopped by an error and resumed reaches the model in full', async () => {
    const id = await newConversation(server)
    upstream.enqueue(turn.error(400, 'no'))
    expect(await say(server, id, 'Q0')).toBe('error')
    const failed = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
      .items[1]
    upstream.enqueue(turn.text('A1'))
    await say(server, id, 'Q1')
    for (const at of [2, 3, 4]) {
      upstream.enqueue(turn.text(`A${at}`))
      await say(server, id, `Q${at}`)
    }
    upstream.enqueue(turn.text('A0 at last'))
    const resumed = await server.call('POST', `/api/runs/${failed.run_id}/resume`)
    expect(resumed.status).toBeLessThan(300)
    await expect
      .poll(async () => (await server.call('GET', `/api/runs/${failed.run_id}`)).json.data.status)
      .toBe('completed')
    upstream.enqueue(turn.text('A5'))
    await say(server, id, 'Q5')
    expect(sent().slice(0, 3)).toEqual(['Q0', 'A0 at last', 'Q1'])
  })

  test('after a summary, the model gets it instead of the turns that it replaces', async () => {
    const id = await newConversation(server)
    const long = 'a long story '.repeat(2_000)
    upstream.program((request) =>
      JSON.stringify(request.body.messages).includes('Summarize the conversation')
        ? turn.text('They told stories.')
        : turn.text('Go on.'),
    )
    for (let at = 0; at < 12; at += 1) await say(server, id, `${at}: ${long}`)
    const last = JSON.stringify(upstream.requests.at(-1)?.body.messages)
    const parts = ['They told stories.', '"0: a long', '"11: a long']
    expect(parts.map((part) => last.includes(part))).toEqual([true, false, true])
  })
})

describe.skipIf(!hasRedis)('a history that two instances remember', () => {
  const { start } = useClusters()
  test('each sends what the other has added', async () => {
    const { instances } = await start(2, CONFIG)
    const [first, second] = instances
    if (first === undefined || second === undefined) throw new Error('two were started')
    const id = await newConversation(first)
    const turns: string[] = []
    for (let at = 0; at < 8; at += 1) {
      upstream.enqueue(turn.text(`A${at}`))
      await say([first, second, second, first][at % 4] ?? first, id, `Q${at}`)
      expect(sent()).toEqual([...turns, `Q${at}`])
      turns.push(`Q${at}`, `A${at}`)
    }
  })
})
