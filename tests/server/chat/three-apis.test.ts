// Each API supports a chat with two tool iterations, thinking and an image, also when the server is killed midway.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { called, reasoned, responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { chunk, type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { callServer } from '../../support/server/call-server.ts'
import { openEvents } from '../../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../../support/server/server-process.ts'

const upstream = await useUpstream()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-apis-'))
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const sum = { expression: '2 + 2' }
const file = { path: 'sum.txt', content: '4\n' }

const signedChunk = (id: string, name: string, input: object, signature: string) =>
  turn.chunks([
    chunk({ reasoning_content: 'I think.' }),
    chunk({
      tool_calls: [
        {
          index: 0,
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
          extra_content: { google: { thought_signature: signature } },
        },
      ],
    }),
    chunk({}, 'tool_calls'),
  ])
const signedBlocks = (id: string, name: string, input: object, signature: string) =>
  messagesTurn([
    { type: 'thinking', thinking: 'I think.', signature },
    { type: 'tool_use', id, name, input },
  ])
const sealedItems = (id: string, name: string, input: object, sealed: string) =>
  responsesTurn([reasoned('I think.', sealed), called(id, name, input)])

const apis: [api: string, call: typeof signedChunk, last: Turn][] = [
  ['chat', signedChunk, turn.text('Four.')],
  ['messages', signedBlocks, messagesTurn([{ type: 'text', text: 'Four.' }])],
  ['responses', sealedItems, responsesTurn([said('Four.')])],
]

let place: ServerPlace
let server: ServerProcess
beforeAll(async () => {
  const model = { api_url: upstream.url, vision: true, thinking: true }
  place = await serverPlace(folder, {
    models: apis.map(([api]) => ({ ...model, id: api, api })),
    titles: 'off',
    log_level: 'warn',
  })
  server = await place.start()
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})
const call = async (method: string, path: string, body?: unknown) =>
  (await callServer(server.url, method, path, body)).data

test.each(apis)(
  'a chat over the API %s continues after kill -9 with everything that the provider needs back',
  async (api, made, last) => {
    upstream.enqueue(
      made('call_1', 'calculator', sum, 'sig-one'),
      made('call_2', 'file_write', file, 'sig-two'),
    )
    const project = await call('POST', '/api/projects', { name: api })
    const conversation = await call('POST', '/api/conversations', {
      project_id: project.id,
      model: api,
      thinking_enabled: true,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${conversation.id}/messages`, {
      body: {
        text: 'What is it?',
        stream_mode: 'delta',
        attachments: [{ name: 'a.png', mime: 'image/png', data: PICTURE }],
      },
    })
    const waits = ({ event }: { event: string }) => event === 'approval_required'
    const question = await stream.next(waits)
    await server.kill('SIGKILL')
    server = await place.start()
    upstream.enqueue(last)
    const { run_id, id_ref } = question.data
    const back = await openEvents(`${server.url}/api/runs/${run_id}/events?stream_mode=delta`)
    await back.next(waits)
    await call('POST', `/api/runs/${run_id}/approvals`, { id_ref, decision: 'approve' })
    expect((await back.all()).at(-1)).toMatchObject({ event: 'done' })

    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    const order = [PICTURE, 'sig-one', 'call_1', 'sig-two', 'call_2', 'sum.txt']
    const places = order.map((part) => sent.indexOf(part))
    expect(Math.min(...places)).toBeGreaterThan(0)
    const answer = (await call('GET', `/api/conversations/${conversation.id}/messages`)).items.at(
      -1,
    )
    expect(answer).toMatchObject({ text: 'Four.', status: 'completed' })
    const thoughts = answer.process_steps.filter(
      ({ type }: { type: string }) => type === 'thinking',
    )
    expect(thoughts).toHaveLength(2)
    expect(JSON.stringify(answer)).not.toMatch(/sig-one|sig-two/)
  },
)
