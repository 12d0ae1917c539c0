// Output of models and tools with NUL or lone surrogates is stored on both databases and never fails a run.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

describeOnEachServer('hostile output', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
    })
  })

  test.each([
    ['NUL', 'a\u0000b'],
    ['half of a surrogate pair', 'a\ud800b'],
  ])(
    'a run whose text, arguments and results contain %s completes and can be read again',
    async (_name, hostile) => {
      upstream.enqueue(
        turn.toolCalls(
          [{ name: 'text_process', arguments: { text: hostile, operation: 'reverse' } }],
          { thinking: `Thinking ${hostile}` },
        ),
        turn.text(`It is ${hostile}.`),
      )
      const conversation = await server.call('POST', '/api/conversations', { body: {} })
      const path = `/api/conversations/${conversation.json.data.id}/messages`
      const stream = await openEvents(server.url + path, { body: { text: 'reverse it' } })
      const events = await stream.all()
      expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
      const answer = (await server.call('GET', path)).json.data.items[1]
      expect(answer).toMatchObject({ status: 'completed' })
      expect(answer.text).toMatch(/^It is a.*b\.$/su)
      expect(answer.process_steps.map(({ type }: { type: string }) => type)).toEqual([
        'thinking',
        'tool_call',
        'tool_result',
        'text',
      ])
      const replay = await openEvents(`${server.url}/api/runs/${events[0]?.data.run_id}/events`, {})
      expect((await replay.all()).at(-1)?.event).toBe('done')
    },
  )
})
