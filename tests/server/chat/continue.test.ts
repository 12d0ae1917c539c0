// A resumed answer: one text, whatever ended its first half, for listeners, in the store and for the model.
import { beforeAll, expect, test } from 'vitest'
import { scripted } from '../../support/provider/scripted.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const HALF = '```js\nconst on'
const REST = 'e = 1\n```'

/** The turns that end an answer after its first half, what separates the halves, and whether a person stops it. */
const ENDS: Record<string, { turns: Turn[]; separator: string; stops?: true }> = {
  'a stop': {
    turns: [
      {
        ...turn.text(HALF),
        actions: [
          ...turn.text(HALF).actions.slice(0, -3),
          { until: new Promise<void>(() => undefined) },
        ],
      },
    ],
    separator: '',
    stops: true,
  },
  'the output limit': { turns: [turn.text(HALF, { finishReason: 'length' })], separator: '' },
  'a failure': { turns: [turn.cut(turn.text(HALF, { chunkSize: 100 }), 2, 'end')], separator: '' },
  'the iteration limit': {
    turns: [
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1 + 1' } }]),
      turn.text(HALF),
    ],
    separator: '\n\n',
  },
}

/** The text of the answer as a listener of these events has it. */
function textOf(events: readonly ReceivedEvent[]): string {
  const texts = new Map<number, string>()
  for (const { event, data } of events) {
    if (data.type !== 'text') continue
    if (event === 'process_step') texts.set(data.index, data.content)
    if (event === 'step_delta') texts.set(data.index, (texts.get(data.index) ?? '') + data.delta)
  }
  return [...texts.values()].join('|')
}

describeOnEachServer('a resumed answer', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({ ...scripted(upstream), max_iterations: 1 })
  })

  test.each(Object.entries(ENDS))(
    'after %s, the rest joins the text: in the store, for a listener that reconnects, and for the model',
    async (_name, { turns, separator, stops }) => {
      upstream.enqueue(...turns)
      const { json } = await server.call('POST', '/api/conversations', { body: {} })
      const address = `/api/conversations/${json.data.id}/messages`
      const body = { text: 'Go', stream_mode: 'delta' }
      const stream = await openEvents(`${server.url}${address}`, { body })
      const { data: run } = await stream.next(({ event }) => event === 'run')
      if (stops === true) {
        await stream.next(({ event }) => event === 'step_delta')
        await server.call('POST', `/api/runs/${run.run_id}/stop`)
      }
      const before = await stream.all()
      upstream.enqueue(turn.thinking('Where was I?', REST, { chunkSize: 3 }))
      expect((await server.call('POST', `/api/runs/${run.run_id}/resume`)).status).toBe(200)
      const known = before.filter(({ event }) => event !== 'done' && event !== 'error')
      const after = await openEvents(
        `${server.url}/api/runs/${run.run_id}/events?stream_mode=delta`,
        { headers: { 'last-event-id': String(known.at(-1)?.id) } },
      )
      const whole = HALF + separator + REST
      expect(textOf([...known, ...(await after.all())])).toBe(whole)
      const page = await server.call('GET', address)
      const steps: { type: string; content: string }[] = page.json.data.items.at(-1).process_steps
      expect(steps.filter(({ type }) => type === 'text').map(({ content }) => content)).toEqual([
        whole,
      ])
      expect(upstream.requests.at(-1)?.messages.slice(-2)).toMatchObject([
        { role: 'assistant', content: HALF },
        { role: 'user' },
      ])
      const replayed = await openEvents(`${server.url}/api/runs/${run.run_id}/events`)
      expect(textOf(await replayed.all())).toBe(whole)
      upstream.enqueue(turn.text('Next.'))
      await server.call('POST', address, { body: { text: 'Next', stream: false } })
      const told = upstream.requests.at(-1)?.messages.filter(({ role }) => role === 'assistant')
      expect(told?.at(-1)?.content).toBe(whole)
    },
  )
})
