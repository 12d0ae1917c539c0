// Input that MCP servers ask for: shown with who asks, answered once, kept across kill -9, and declined where nobody is.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAskingLegacy, startAskingModern } from '../../fixtures/mcp-asking-servers.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { callServer } from '../../support/server/call-server.ts'
import { openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../../support/server/server-process.ts'

const upstream = await useUpstream()
const asks = ({ event }: { event: string }): boolean => event === 'input_required'

describe('input that an MCP server requests', () => {
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  let modern: Awaited<ReturnType<typeof startAskingModern>>
  let legacy: Awaited<ReturnType<typeof startAskingLegacy>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-input-'))
    modern = await startAskingModern()
    legacy = await startAskingLegacy()
    place = await serverPlace(folder, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      approval: { default: 'auto' },
      mcp_servers: { modern: { url: modern.url }, legacy: { url: legacy.url } },
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    await Promise.all([modern.close(), legacy.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  const call = (method: string, path: string, body?: unknown) =>
    callServer(server.url, method, path, body)
  const connected = () =>
    expect
      .poll(async () =>
        (await call('GET', '/api/mcp')).data.servers.map(
          ({ state, era }: { state: string; era: string }) => [state, era],
        ),
      )
      .toEqual([
        ['connected', 'modern'],
        ['connected', 'legacy'],
      ])

  /** Has the model call a tool, and reads the run's events up to the question. */
  async function ask(tool: string, args: object = { day: 'Friday' }) {
    await connected()
    upstream.enqueue(
      turn.toolCalls([{ id: `call_${tool}`, name: tool, arguments: args }]),
      turn.text('Done.'),
    )
    const { data: conversation } = await call('POST', '/api/conversations', {})
    const stream = await openEvents(`${server.url}/api/conversations/${conversation.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const question = await stream.next(asks)
    return { conversation, stream, question, runId: question.data.run_id }
  }
  const answer = (runId: string, body: object) => call('POST', `/api/runs/${runId}/inputs`, body)
  const resultOf = (events: readonly ReceivedEvent[]) =>
    JSON.parse(events.find(({ data }) => data.type === 'tool_result')?.data.content)

  test('is shown with the name and host of the server, is checked against the form, and is answered once', async () => {
    const { stream, question, runId, conversation } = await ask('mcp__modern__book')
    expect(question.data).toMatchObject({
      id_ref: 'call_mcp__modern__book',
      call_ref: 'call_mcp__modern__book',
      server: 'modern',
      host: new URL(modern.url).host,
      mode: 'form',
      message: 'How many people are you?',
      schema: {
        properties: {
          seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 8 },
          area: {
            oneOf: [
              { const: 'inside', title: 'inside' },
              { const: 'garden', title: 'garden' },
            ],
          },
        },
        required: ['seats'],
      },
    })
    const { data: run } = await call('GET', `/api/runs/${runId}`)
    expect(run).toMatchObject({ status: 'awaiting_input', pending_inputs: [{ mode: 'form' }] })
    const { data: shown } = await call('GET', `/api/conversations/${conversation.id}`)
    expect(shown.active_run_status).toBe('awaiting_input')
    const { id_ref } = question.data
    for (const content of [{}, { seats: 9 }, { seats: 2, area: 'roof' }, { seats: 2, other: 'x' }])
      expect(await answer(runId, { id_ref, action: 'accept', content })).toMatchObject({
        status: 400,
      })
    expect(await answer(runId, { id_ref: 'other', action: 'cancel' })).toMatchObject({
      status: 404,
    })
    const accepted = { id_ref, action: 'accept', content: { seats: 4, area: 'garden' } }
    const { data: listed } = await call('GET', '/api/approvals')
    const { call_hash } = listed.items.find(({ run_id }: { run_id: string }) => run_id === runId)
    const refused = async (body: object) =>
      await (
        await fetch(`${server.url}/api/runs/${runId}/inputs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json()
    expect(await refused({ ...accepted, call_hash: '0'.repeat(64) })).toMatchObject({
      code: 409,
      error: 'approval_changed',
    })
    const once = await Promise.all([1, 2].map(() => answer(runId, { ...accepted, call_hash })))
    expect(once.map(({ status }) => status).sort()).toEqual([200, 409])
    const events = await stream.all()
    expect(resultOf(events).data).toBe('Booked for {"seats":4,"area":"garden"}')
    expect(modern.booked).toEqual([{ day: 'Friday', seats: 4, area: 'garden' }])
    expect(modern.states).toEqual(['opaque ✓ state'])
    // Also when the call is over.
    expect(await refused(accepted)).toMatchObject({ code: 409, error: 'already_decided' })
  })

  test.each(['modern', 'legacy'] as const)(
    'of a %s server still waits after kill -9, and the tool completes once with the answer',
    async (era) => {
      const asking = era === 'modern' ? modern : legacy
      asking.booked.length = 0
      const { question, runId } = await ask(`mcp__${era}__book`)
      await server.kill('SIGKILL')
      server = await place.start()
      const back = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`)
      const again = await back.next(asks)
      expect(again.data).toEqual(question.data)
      const { id_ref } = question.data
      await answer(runId, { id_ref, action: 'accept', content: { seats: 2 } })
      const events = await back.all()
      expect(resultOf(events).data).toBe('Booked for {"seats":2}')
      expect(asking.booked).toEqual([{ day: 'Friday', seats: 2 }])
    },
  )

  test('may be a page to open, whose URL is neither logged nor sent to the model', async () => {
    const { stream, question, runId } = await ask('mcp__modern__sign', {})
    expect(question.data).toMatchObject({
      mode: 'url',
      url: 'https://sign.example.org/contract?token=secret-token',
    })
    await answer(runId, { id_ref: question.data.id_ref, action: 'accept' })
    expect(resultOf(await stream.all()).data).toBe('Signed.')
    expect(server.logged()).not.toContain('secret-token')
    expect(JSON.stringify(upstream.requests)).not.toContain('secret-token')
  })

  test('is declined when the person declines, and the model is told so', async () => {
    const { stream, question, runId } = await ask('mcp__legacy__book')
    await answer(runId, { id_ref: question.data.id_ref, action: 'decline' })
    expect(resultOf(await stream.all()).data).toBe('Nothing was booked.')
  })

  test('is declined at once for a sub-agent and for a program that does not wait for a person', async () => {
    await connected()
    const book = turn.toolCalls([{ name: 'mcp__modern__book', arguments: { day: 'Monday' } }])
    const task = { name: 'table', instruction: 'Book a table.', tools: ['mcp__modern__book'] }
    upstream.enqueue(
      turn.toolCalls([{ name: 'multi_agent', arguments: { tasks: [task] } }]),
      book,
      turn.text('No table.'),
      turn.text('There is no table.'),
    )
    const { data: conversation } = await call('POST', '/api/conversations', {})
    const { data: answered } = await call(
      'POST',
      `/api/conversations/${conversation.id}/messages`,
      { text: 'Go', stream: false },
    )
    expect(answered.message).toMatchObject({ text: 'There is no table.', status: 'completed' })
    expect(JSON.stringify(upstream.requests.at(-2)?.messages)).toContain('Nothing was booked.')

    upstream.enqueue(book, turn.text('There is none.'))
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nanoclaw', messages: [{ role: 'user', content: 'Go' }] }),
    })
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: 'There is none.' }, finish_reason: 'stop' }],
    })
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('Nothing was booked.')
    expect(modern.booked).not.toContainEqual(expect.objectContaining({ day: 'Monday' }))
  })

  test('that requires a page to be opened first runs the call once afterwards, also across kill -9', async () => {
    const { question, runId } = await ask('mcp__legacy__pay', {})
    expect(question.data).toMatchObject({
      server: 'legacy',
      mode: 'url',
      message: 'Agree to pay on this page.',
      url: 'https://pay.example.org/agree?once=secret-token',
    })
    await server.kill('SIGKILL')
    server = await place.start()
    const back = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`)
    const again = await back.next(asks)
    expect(again.data).toEqual(question.data)
    expect(legacy.payment.paid).toBe(0)
    legacy.payment.isOpened = true
    await answer(runId, { id_ref: question.data.id_ref, action: 'accept' })
    expect(resultOf(await back.all()).data).toBe('Paid.')
    expect(legacy.payment.paid).toBe(1)
  })

  test('is requested again if a required page is not opened, and the model is told when the person declines', async () => {
    legacy.payment.isOpened = false
    const { stream, question, runId } = await ask('mcp__legacy__pay', {})
    await answer(runId, { id_ref: question.data.id_ref, action: 'accept' })
    const second = await stream.next(
      (event) => asks(event) && event.data.id_ref !== question.data.id_ref,
    )
    await answer(runId, { id_ref: second.data.id_ref, action: 'decline' })
    expect(resultOf(await stream.all()).error).toContain('which the user did not do')
    expect(legacy.payment.paid).toBe(1)
    expect(JSON.stringify(upstream.requests)).not.toContain('secret-token')
  })
})
