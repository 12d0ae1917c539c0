// Prompt mode through the whole server: two calls in the text, then an answer; a call is never shown as text.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

let server: TestServer
const { start } = useServers()
beforeAll(async () => {
  server = await start({
    config: {
      models: [{ id: 'plain', api_url: upstream.url, tool_mode: 'prompt' }],
      titles: 'off',
    },
  })
})

const call = (name: string, args: object): string =>
  `\`\`\`json\n${JSON.stringify({ tool_call: { name, arguments: args } }, null, 2)}\n\`\`\``

test('in prompt mode, two calls and an answer become steps like those of any model', async () => {
  upstream.enqueue(
    turn.text(
      `Let me work it out.\n\n${call('calculator', { expression: '6*7' })}\n\n${call('text_process', { text: 'a b', operation: 'words' })}`,
      { chunkSize: 3 },
    ),
    turn.text('It is 42, of two words.'),
  )
  const conversation = await server.call('POST', '/api/conversations', { body: {} })
  const path = `/api/conversations/${conversation.json.data.id}/messages`
  const reader = await openEvents(server.url + path, {
    body: { text: 'How much?', stream_mode: 'delta' },
  })
  const events = await reader.all()
  const shown = events.filter(({ event, data }) => event === 'step_delta' && data.type === 'text')
  expect(shown.map(({ data }) => data.delta).join('')).toBe(
    'Let me work it out.It is 42, of two words.',
  )
  expect(events.at(-1)?.event).toBe('done')

  const { json } = await server.call('GET', path)
  const steps = json.data.items.at(-1).process_steps
  expect(steps.map(({ type, name }: { type: string; name?: string }) => name ?? type)).toEqual([
    'text',
    'calculator',
    'text_process',
    'calculator',
    'text_process',
    'text',
  ])
  const [first, second] = upstream.requests
  expect(first?.body.tools).toBeUndefined()
  expect(String(first?.messages[0]?.content)).toContain('## calculator')
  expect(second?.messages.at(-1)).toMatchObject({
    role: 'user',
    content: expect.stringContaining('"result":42'),
  })
  upstream.expectDone()
})
