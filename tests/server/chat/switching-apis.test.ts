// A conversation goes on when its model changes, to and from each of the three APIs, with calls, thinking and an image.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { called, reasoned, responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { chunk, type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()
const servers = useServers()
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const sum = { expression: '2 + 2' }

/** A call and an answer after it, as each API streams them, signed with `seal`. */
const turns: Record<string, (id: string, seal: string) => [Turn, Turn]> = {
  chat: (id, seal) => [
    turn.chunks([
      chunk({ reasoning_content: 'I think.' }),
      chunk({
        tool_calls: [
          {
            index: 0,
            id,
            type: 'function',
            function: { name: 'calculator', arguments: JSON.stringify(sum) },
            extra_content: { google: { thought_signature: seal } },
          },
        ],
      }),
      chunk({}, 'tool_calls'),
    ]),
    turn.text('Four.'),
  ],
  messages: (id, seal) => [
    messagesTurn([
      { type: 'thinking', thinking: 'I think.', signature: seal },
      { type: 'tool_use', id, name: 'calculator', input: sum },
    ]),
    messagesTurn([{ type: 'text', text: 'Four.' }]),
  ],
  responses: (id, seal) => [
    responsesTurn([reasoned('I think.', seal), called(id, 'calculator', sum)]),
    responsesTurn([said('Four.')]),
  ],
}

/** The ids of calls and results in the order of a request. @throws when the API would refuse the request. */
const idsOf: Record<string, (body: unknown) => string[]> = {
  chat(body) {
    const Body = z.object({
      messages: z.array(
        z.object({
          role: z.string(),
          tool_call_id: z.string().optional(),
          tool_calls: z.array(z.object({ id: z.string() })).optional(),
        }),
      ),
    })
    return Body.parse(body).messages.flatMap(({ tool_call_id: result, tool_calls: calls = [] }) => [
      ...calls.map(({ id }) => `call ${id}`),
      ...(result === undefined ? [] : [`result ${result}`]),
    ])
  },
  messages(body) {
    const Block = z.object({
      type: z.string(),
      id: z.string().optional(),
      tool_use_id: z.string().optional(),
    })
    const Body = z.object({
      max_tokens: z.int(),
      messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.array(Block) })),
    })
    const { messages } = Body.parse(body)
    const roles = messages.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant'))
    expect(messages.map(({ role }) => role)).toEqual(roles)
    return messages.flatMap(({ content }) =>
      content.flatMap((block) => [
        ...(block.type === 'tool_use' ? [`call ${block.id}`] : []),
        ...(block.type === 'tool_result' ? [`result ${block.tool_use_id}`] : []),
      ]),
    )
  },
  responses(body) {
    const Item = z.object({ type: z.string().optional(), call_id: z.string().optional() })
    const Body = z.object({ store: z.literal(false), input: z.array(Item) })
    return Body.parse(body).input.flatMap(({ type, call_id: id }) => [
      ...(type === 'function_call' ? [`call ${id}`] : []),
      ...(type === 'function_call_output' ? [`result ${id}`] : []),
    ])
  },
}

let server: TestServer
beforeAll(async () => {
  const model = { api_url: upstream.url, vision: true, thinking: true }
  server = await servers.start({
    config: {
      models: Object.keys(turns).map((api) => ({ ...model, id: api, api })),
      titles: 'off',
    },
  })
})
afterAll(() => upstream.reset())

test('every API gets the calls and results of the others and only its own signed values', async () => {
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const order = ['chat', 'messages', 'responses', 'chat', 'responses', 'messages', 'chat']
  const expected: string[] = []
  for (const [at, api] of order.entries()) {
    const id = `call_${at}`
    upstream.enqueue(...(turns[api]?.(id, `seal-of-${api}-${at}`) ?? []))
    const attachments =
      at === 0 ? { attachments: [{ name: 'a.png', mime: 'image/png', data: PICTURE }] } : {}
    const response = await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: `Question ${at}`, model: api, stream: false, ...attachments },
    })
    expect(response.json.data.message).toMatchObject({ text: 'Four.', status: 'completed' })
    expected.push(`call ${id}`, `result ${id}`)
    const body = upstream.requests.at(-1)?.body
    expect(idsOf[api]?.(body)).toEqual(expected)
    const sent = JSON.stringify(body)
    expect(sent).toContain(PICTURE)
    const seals = [...sent.matchAll(/seal-of-(\w+)-(\d+)/g)].map(([, of, number]) => [of, number])
    const own = order.flatMap((one, turnAt) =>
      one === api && turnAt <= at ? [[api, String(turnAt)]] : [],
    )
    expect(seals).toEqual(own)
  }
})
