// Carried fields go back to the provider that sent them, in later iterations, turns and attempts, and to no other.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { UpstreamRequest } from '../../support/provider/upstream.ts'
import { chunk, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()
const SECRET = 'a-signature-of-the-provider'

/** A call, by default of `get_current_time`, that the provider signed. */
const signedCall = (name = 'get_current_time', given: object = {}, id = 'call_signed') =>
  turn.chunks([
    chunk({
      reasoning_details: [{ type: 'reasoning.encrypted', data: `${SECRET}-detail`, index: 0 }],
    }),
    chunk({
      tool_calls: [
        {
          index: 0,
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(given) },
          extra_content: { google: { thought_signature: SECRET } },
        },
      ],
    }),
    chunk({}, 'tool_calls'),
  ])
/** The earlier calls in a request, as the provider receives them. */
const callsOf = (request: UpstreamRequest | undefined) =>
  (request?.messages ?? []).flatMap((message) => message.tool_calls ?? [])
const signature = { extra_content: { google: { thought_signature: SECRET } } }

const begin = async (server: TestServer, body: object = {}): Promise<string> =>
  (await server.call('POST', '/api/conversations', { body })).json.data.id
const ask = async (server: TestServer, id: string, text = 'Go') =>
  (await openEvents(`${server.url}/api/conversations/${id}/messages`, { body: { text } })).all()

describeOnEachServer('carried fields', (start) => {
  const models = () => [
    { id: 'one', api_url: upstream.url },
    { id: 'other', api_url: upstream.url },
  ]

  test('are sent back in the next iteration and turn, and are not shown, exported, shared or logged', async () => {
    const server = await start({ models: models(), titles: 'off' })
    const id = await begin(server)
    upstream.enqueue(signedCall(), turn.text('It is late.'))
    const events = await ask(server, id)
    expect(events.at(-1)?.event).toBe('done')
    expect(callsOf(upstream.requests.at(-1))).toMatchObject([{ id: 'call_signed', ...signature }])
    upstream.enqueue(turn.text('Still late.'))
    await ask(server, id, 'And now?')
    expect(callsOf(upstream.requests.at(-1))).toMatchObject([{ id: 'call_signed', ...signature }])
    expect(upstream.requests.at(-1)?.messages[2]).toMatchObject({
      reasoning_details: [{ data: `${SECRET}-detail` }],
    })

    const run = events.find(({ event }) => event === 'run')?.data
    const seen = await Promise.all(
      [
        `/api/conversations/${id}`,
        `/api/conversations/${id}/messages`,
        `/api/conversations/${id}/export`,
        `/api/runs/${run.run_id}`,
      ].map((path) => server.call('GET', path).catch(() => undefined)),
    )
    const replayed = await (await openEvents(`${server.url}/api/runs/${run.run_id}/events`)).all()
    const include = ['files', 'tools', 'thinking']
    const link = await server.call('POST', `/api/conversations/${id}/share`, { body: { include } })
    const { token } = link.json.data
    const shared = await server.call('GET', `/api/shared/${token}`)
    expect(JSON.stringify(shared.json)).toContain('get_current_time')
    const page = await (await fetch(`${server.url}/s/${token}`)).text()
    expect(page).toContain('Tool call: Get time')
    const copied = await server.call('POST', `/api/shared/${token}/continue`)
    upstream.enqueue(turn.text('Later.'))
    const continued = await ask(server, copied.json.data.id, 'And here?')
    const copy = await server.call('GET', `/api/conversations/${copied.json.data.id}/messages`)
    expect(continued.at(-1)?.event).toBe('done')
    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    expect(sent).toContain('It is late.')
    expect(sent).not.toContain(SECRET)

    const read = [events, replayed, seen, shared.json, page, copied.json, continued, copy.json]
    expect(JSON.stringify(read)).not.toContain(SECRET)
    expect(server.logged()).not.toContain(SECRET)
  })

  test('are dropped when the conversation changes its model, and return with that model', async () => {
    const server = await start({ models: models(), titles: 'off' })
    const id = await begin(server, { model: 'one' })
    upstream.enqueue(signedCall(), turn.text('It is late.'))
    await ask(server, id)
    for (const [model, sent] of [
      ['other', false],
      ['one', true],
    ] as const) {
      await server.call('PATCH', `/api/conversations/${id}`, { body: { model } })
      upstream.enqueue(turn.text('Yes.'))
      await ask(server, id, 'And now?')
      const request = upstream.requests.at(-1)
      expect(request?.model).toBe(model)
      expect(callsOf(request)).toHaveLength(1)
      expect(JSON.stringify(request?.body).includes(SECRET)).toBe(sent)
    }
  })

  test('are dropped for a fallback', async () => {
    const server = await start({
      models: [
        { id: 'one', api_url: upstream.url, fallback: ['other'] },
        { id: 'other', api_url: upstream.url },
      ],
      titles: 'off',
    })
    const id = await begin(server)
    upstream.enqueueFor({ model: 'one' }, signedCall(), turn.error(400))
    upstream.enqueueFor({ model: 'other' }, turn.text('It is late.'))
    expect((await ask(server, id)).at(-1)?.event).toBe('done')
    const [failed, answered] = upstream.requests.slice(-2)
    expect([failed?.model, answered?.model]).toEqual(['one', 'other'])
    expect(JSON.stringify(failed?.body)).toContain(SECRET)
    expect(callsOf(answered)).toHaveLength(1)
    expect(JSON.stringify(answered?.body)).not.toContain(SECRET)
  })

  test('a call with arguments changed by a person is sent back as the model signed it, and its result says what ran', async () => {
    const server = await start({ models: models(), titles: 'off' })
    const project = await server.call('POST', '/api/projects', { body: { name: 'Signed' } })
    const id = await begin(server, { project_id: project.json.data.id })
    const given = { path: 'model.txt', content: 'of the model' }
    upstream.enqueue(signedCall('file_write', given), turn.text('Written.'))
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Write' },
    })
    const request = await stream.next(({ event }) => event === 'approval_required')
    await server.call('POST', `/api/runs/${request.data.run_id}/approvals`, {
      body: {
        id_ref: request.data.id_ref,
        decision: 'approve',
        arguments: JSON.stringify({ path: 'person.txt', content: 'of the person' }),
      },
    })
    expect((await stream.all()).at(-1)?.event).toBe('done')
    const last = upstream.requests.at(-1)
    expect(callsOf(last)).toEqual([
      {
        id: 'call_signed',
        type: 'function',
        function: { name: 'file_write', arguments: JSON.stringify(given) },
        ...signature,
      },
    ])
    expect(String(last?.messages.at(-1)?.content)).toContain('person.txt')
  })
})

const { start } = useServers()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-carried-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('carried fields survive a restart while a call waits for a person', async () => {
  const config = {
    models: [{ id: 'one', api_url: upstream.url }],
    titles: 'off',
    db_type: 'sqlite',
    db_sqlite_file: join(folder, 'nanoclaw.db'),
    shutdown_grace: 0,
  }
  const first = await start({ config, folder })
  const project = await first.call('POST', '/api/projects', { body: { name: 'Restarted' } })
  const id = await begin(first, { project_id: project.json.data.id })
  upstream.enqueue(signedCall('file_write', { path: 'a.txt', content: 'a' }))
  const stream = await openEvents(`${first.url}/api/conversations/${id}/messages`, {
    body: { text: 'Write' },
  })
  const request = await stream.next(({ event }) => event === 'approval_required')
  await first.close()

  const second = await start({ config, folder })
  const runId = request.data.run_id
  upstream.enqueue(turn.text('Written.'))
  const again = await openEvents(`${second.url}/api/runs/${runId}/events`)
  await again.next(({ event }) => event === 'approval_required')
  await second.call('POST', `/api/runs/${runId}/approvals`, {
    body: { id_ref: request.data.id_ref, decision: 'approve' },
  })
  expect((await again.all()).at(-1)?.event).toBe('done')
  expect(callsOf(upstream.requests.at(-1))).toMatchObject([{ id: 'call_signed', ...signature }])
})
