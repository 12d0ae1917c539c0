// Schedules from outside: each due time is one occurrence with its run, missed ones are listed, and what they may do is limited.
import { createHmac } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { type SimulatedClock, simulatedClock } from '../../support/server/simulated-clock.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const upstream = await useUpstream()
const { start } = useServers()
const databases = useDatabases()

const BERLIN = { cron: '30 8 * * *', tz: 'Europe/Berlin' }

/** What the model does, unless a test replaces it. */
const speaks = () => turn.text('The page says 42.')
const upstreamProgram: { current: Parameters<typeof upstream.program>[0] } = { current: speaks }
beforeEach(() => {
  upstreamProgram.current = speaks
  upstream.program((request) => upstreamProgram.current(request))
})

describe.each(DIALECTS)('schedules on %s', (dialect) => {
  let clock: SimulatedClock
  let server: TestServer
  let keys: Record<string, unknown>
  const open = (config: Record<string, unknown> = {}, folder?: string) =>
    start({
      clock,
      ...(folder === undefined ? {} : { folder }),
      config: {
        ...keys,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        public_url: 'http://chat.example.org',
        ...config,
      },
    })
  beforeEach(async () => {
    clock = simulatedClock('2026-03-27T07:29:50Z')
    keys = databaseKeys(await databases.migrated(dialect))
    server = await open()
  })

  const create = async (body: Record<string, unknown>) =>
    (
      await server.call('POST', '/api/schedules', {
        body: { name: 'Morning', text: 'Look.', ...body },
      })
    ).json
  const made = async (body: Record<string, unknown>) => (await create(body)).data
  const get = async (id: string) => (await server.call('GET', `/api/schedules/${id}`)).json.data
  const occurrences = async (id: string) =>
    (await server.call('GET', `/api/schedules/${id}/occurrences`)).json.data.items
  const states = async (id: string) =>
    (await occurrences(id)).map(({ due_at, state }: Record<string, unknown>) => [due_at, state])

  test('a due time is one occurrence, whose run is in one conversation that carries the schedule', async () => {
    const { id, next_at } = await made({ when: BERLIN })
    expect(next_at).toBe('2026-03-27T07:30:00.000Z')
    await clock.passTo('2026-03-27T07:30:03Z')
    await eventually(async () =>
      expect(await states(id)).toEqual([['2026-03-27T07:30:00.000Z', 'done']]),
    )
    const [first] = await occurrences(id)
    const messages = (
      await server.call('GET', `/api/conversations/${first.conversation_id}/messages`)
    ).json.data.items
    expect(messages.map(({ text, origin }: Record<string, unknown>) => [text, origin])).toEqual([
      ['Look.', { type: 'schedule', id, name: 'Morning' }],
      ['The page says 42.', { type: 'schedule', id, name: 'Morning' }],
    ])
    const conversation = (await server.call('GET', `/api/conversations/${first.conversation_id}`))
      .json.data
    expect(conversation).toMatchObject({ title: 'Morning', schedule_id: id })
    // The clock changes on the 29th.
    expect(await get(id)).toMatchObject({
      next_at: '2026-03-28T07:30:00.000Z',
      last: { id: first.id },
      failures: 0,
    })
  })

  test('what was due while the server was down is listed, and only the newest runs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-schedules-'))
    await server.close()
    server = await open({}, folder)
    const one = await made({ when: { every: '6h' } })
    const none = await made({ when: { every: '6h' }, catch_up: 'none' })
    await server.close()
    await clock.set('2026-03-28T02:00:00Z')
    server = await open({}, folder)
    await clock.passTo('2026-03-28T02:00:02Z')
    await eventually(async () =>
      expect(await states(one.id)).toEqual([
        ['2026-03-28T01:29:50.000Z', 'done'],
        ['2026-03-27T19:29:50.000Z', 'missed'],
        ['2026-03-27T13:29:50.000Z', 'missed'],
      ]),
    )
    await eventually(async () => expect(await states(none.id)).toHaveLength(3))
    for (const { state, reason } of await occurrences(none.id))
      expect([state, reason]).toEqual(['missed', 'catch_up_none'])
    expect((await get(none.id)).next_at).toBe('2026-03-28T07:29:50.000Z')
  })

  test('a clock that is set forward or back makes no time run twice, and lists what it skipped', async () => {
    const { id } = await made({ when: { every: '15m' }, catch_up: 'none' })
    await clock.passTo('2026-03-27T07:44:52Z')
    await eventually(async () => expect(await states(id)).toHaveLength(1))
    await clock.set('2026-03-27T08:20:00Z')
    await eventually(async () => expect(await states(id)).toHaveLength(3))
    await clock.set('2026-03-27T07:40:00Z')
    await clock.passTo('2026-03-27T07:46:00Z')
    await eventually(async () => expect((await states(id)).at(-1)?.[1]).toBe('done'))
    expect(await states(id)).toEqual([
      ['2026-03-27T08:14:50.000Z', 'missed'],
      ['2026-03-27T07:59:50.000Z', 'missed'],
      ['2026-03-27T07:44:50.000Z', 'done'],
    ])
  })

  test('however often it is asked to run while it runs, that is one entry with their number', async () => {
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstreamProgram.current = () => turn.text('Slow.', { until })
    const { id } = await made({ when: BERLIN })
    const run = async () =>
      (await server.call('POST', `/api/schedules/${id}/run`, { body: {} })).status
    expect(await run()).toBe(202)
    await eventually(async () => expect((await occurrences(id))[0]?.run_id).toBeTruthy())
    for (let n = 0; n < 3; n += 1) expect(await run()).toBe(202)
    const found = await occurrences(id)
    expect(found.map(({ state, count }: Record<string, unknown>) => [state, count])).toEqual([
      ['skipped', 3],
      ['running', 1],
    ])
    release()
    await eventually(async () => expect((await occurrences(id))[1]?.state).toBe('done'))
    expect(await run()).toBe(202)
    await eventually(async () => expect(await occurrences(id)).toHaveLength(3))
  })

  test('while one is still running, the next is skipped, or waits and then runs', async () => {
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstreamProgram.current = () => turn.text('Slow.', { until })
    const skip = await made({ when: { every: '5m' } })
    const queue = await made({ when: { every: '5m' }, overlap: 'queue' })
    await clock.passTo('2026-03-27T07:34:52Z')
    await eventually(async () => expect((await occurrences(skip.id))[0]?.run_id).toBeTruthy())
    await eventually(async () => expect((await occurrences(queue.id))[0]?.run_id).toBeTruthy())
    await clock.passTo('2026-03-27T07:39:52Z')
    await eventually(async () => {
      expect((await states(skip.id)).map(([, state]: unknown[]) => state)).toEqual([
        'skipped',
        'running',
      ])
      expect((await states(queue.id)).map(([, state]: unknown[]) => state)).toEqual([
        'waiting',
        'running',
      ])
    })
    release()
    await clock.passTo('2026-03-27T07:40:10Z')
    await eventually(async () => {
      await clock.passTo(new Date(clock.now().getTime() + 3_000).toISOString())
      expect((await states(queue.id)).map(([, state]: unknown[]) => state)).toEqual([
        'done',
        'done',
      ])
    })
  })

  test('a check that fails makes the occurrence unmet whatever the answer says, and failures in a row switch it off', async () => {
    await server.close()
    server = await open({ schedules: { max_failures: 2 } })
    const { id } = await made({
      when: { every: '1d' },
      checks: [
        { answer: 'matches', value: 'says \\d+' },
        { tool: 'file_write', is: 'succeeded' },
      ],
    })
    await server.call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => expect((await occurrences(id))[0]?.state).toBe('unmet'))
    const [{ checks, reason }] = await occurrences(id)
    expect(reason).toBe('check_failed')
    expect(checks.map(({ passed }: { passed: boolean }) => passed)).toEqual([true, false])
    await server.call('POST', `/api/schedules/${id}/run`)
    await eventually(async () =>
      expect(await get(id)).toMatchObject({
        enabled: false,
        failures: 2,
        disabled_reason: 'failures',
        next_at: null,
      }),
    )
    const enabled = await server.call('PATCH', `/api/schedules/${id}`, { body: { enabled: true } })
    expect(enabled.json.data).toMatchObject({ enabled: true, failures: 0, disabled_reason: null })
  })

  test('a run with nothing to report ends at once, folded, and its conversation does not move up', async () => {
    upstreamProgram.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([
            { id: 'call_1', name: 'nothing_to_report', arguments: { reason: 'nothing new' } },
          ])
        : turn.text('This iteration must not begin.')
    const { id } = await made({ when: { every: '1d' }, quiet: true })
    await server.call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => expect((await occurrences(id))[0]?.state).toBe('quiet'))
    const [{ conversation_id }] = await occurrences(id)
    const messages = (await server.call('GET', `/api/conversations/${conversation_id}/messages`))
      .json.data.items
    expect(messages.map(({ quiet }: { quiet?: boolean }) => quiet)).toEqual([true, true])
    expect(messages[1].text).toBe('')
    const conversation = (await server.call('GET', `/api/conversations/${conversation_id}`)).json
      .data
    expect(conversation.updated_at).toBe(conversation.created_at)
  })

  test('a request to a hook starts one run, its repetition none, and its body is text from outside', async () => {
    const { id, hook_url } = await made({ when: { hook: true } })
    const token = hook_url.split('/hooks/')[1]
    expect(token).toMatch(/^[\w-]{43}$/)
    const post = (headers: Record<string, string>, body = '{"event":"deployed"}') =>
      fetch(`${server.url}/hooks/${token}`, { method: 'POST', headers, body })
    const first = await post({ 'content-type': 'application/json', 'idempotency-key': 'one' })
    expect(first.status).toBe(202)
    const { data } = (await first.json()) as { data: { occurrence_id: string } }
    const again = await post({ 'idempotency-key': 'one' })
    expect((await again.json()) as unknown).toEqual({ code: 0, data })
    await eventually(async () =>
      expect((await states(id)).map(([, s]: unknown[]) => s)).toEqual(['done']),
    )
    const [{ conversation_id }] = await occurrences(id)
    const messages = (await server.call('GET', `/api/conversations/${conversation_id}/messages`))
      .json.data.items
    expect(messages[0]).toMatchObject({
      text: 'Look.',
      origin: { type: 'hook', id, name: 'Morning' },
      attachments: [{ name: 'request.txt' }],
    })
    expect((await fetch(`${server.url}/hooks/${token}`)).status).toBe(405)
    expect((await fetch(`${server.url}/hooks/nobody`, { method: 'POST' })).status).toBe(404)
    expect((await post({}, 'x'.repeat(257 * 1024))).status).toBe(413)
    const replaced = await server.call('POST', `/api/schedules/${id}/hook-token`)
    expect(replaced.json.data.hook_url).not.toBe(hook_url)
    expect((await post({})).status).toBe(404)
  })

  test('of the requests to a hook, twenty wait while one runs, the next is refused, and the end of each begins the one behind it', async () => {
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstreamProgram.current = () => turn.text('It is done.', { until })
    const { id, hook_url } = await made({ when: { hook: true } })
    const path = new URL(hook_url).pathname
    const post = (key: string) =>
      fetch(`${server.url}${path}`, { method: 'POST', headers: { 'idempotency-key': key } })
    expect((await post('first')).status).toBe(202)
    await eventually(async () => expect((await occurrences(id))[0]?.run_id).toBeTruthy())
    for (let request = 0; request < 20; request += 1)
      expect((await post(`waits ${request}`)).status).toBe(202)
    const refused = await post('one more')
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ reason: 'hook_busy' })
    // What waits already is not refused when it comes again.
    expect((await post('waits 3')).status).toBe(202)
    release()
    // The end of each begins the next: the clock stands still.
    await eventually(async () =>
      expect((await states(id)).map(([, state]: unknown[]) => state)).toEqual(
        Array.from({ length: 21 }, () => 'done'),
      ),
    )
    expect((await post('one more')).status).toBe(202)
  })

  test('a signed hook refuses requests without a valid signature of the last five minutes', async () => {
    const secret = Buffer.alloc(24, 7)
    const { hook_url } = await made({
      when: { hook: true },
      hook_secret: `whsec_${secret.toString('base64')}`,
    })
    const path = new URL(hook_url).pathname
    const send = (at: Date, key: Buffer, idempotencyKey = 'any') => {
      const timestamp = String(Math.floor(at.getTime() / 1_000))
      const signature = createHmac('sha256', key).update(`m1.${timestamp}.body`).digest('base64')
      return fetch(server.url + path, {
        method: 'POST',
        body: 'body',
        headers: {
          'webhook-id': 'm1',
          'idempotency-key': idempotencyKey,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,wrong v1,${signature}`,
        },
      })
    }
    const now = clock.now().getTime()
    expect((await fetch(server.url + path, { method: 'POST', body: 'body' })).status).toBe(401)
    expect((await send(new Date(now), Buffer.alloc(24, 8))).status).toBe(401)
    expect((await send(new Date(now - 301_000), secret)).status).toBe(401)
    expect((await send(new Date(now + 301_000), secret)).status).toBe(401)
    const first = await send(new Date(now - 60_000), secret, 'one')
    expect(first.status).toBe(202)
    // Another key, which no signature covers, does not make it another request.
    const again = await send(new Date(now - 30_000), secret, 'two')
    expect((await again.json()) as unknown).toEqual((await first.json()) as unknown)
  })

  test('what a schedule may not say is refused by name, and changes nothing', async () => {
    const refusals: [Record<string, unknown>, string][] = [
      [{ when: { cron: '0 8 * * *' } }, 'time_zone_needed'],
      [{ when: { cron: '0 8 * * *', tz: 'Mars/Base' } }, 'validation_failed'],
      [{ when: { cron: '0 8 31 2 *', tz: 'UTC' } }, 'never_due'],
      [{ when: { cron: '* * * * *', tz: 'UTC' } }, 'too_often'],
      [{ when: { every: '1m' } }, 'too_often'],
      [{ when: { at: '2026-03-27T07:28:00Z' } }, 'time_is_past'],
      [{ when: { at: '2026-03-28T07:28:00Z', every: '1d' } }, 'validation_failed'],
      [{ when: { hook: true }, watch: { page: 'https://example.org/' } }, 'watch_needs_times'],
      [{ when: { every: '1d' }, watch: { files: '*.md' } }, 'project_needed'],
      [
        { when: { every: '1d' }, checks: [{ answer: 'matches', value: '(?=x)' }] },
        'validation_failed',
      ],
      [
        {
          when: { every: '1d' },
          checks: [{ file: 'a.json', pointer: '', equals: 'x'.repeat(2_000) }],
        },
        'validation_failed',
      ],
      [{ when: { every: '1d' }, notify: ['channel:none'] }, 'channel_unknown'],
      [{ when: { every: '1d' }, model: 'none' }, 'unknown_model'],
      [{ when: { every: '1d' }, skills: ['none'] }, 'skill_unknown'],
    ]
    for (const [body, code] of refusals)
      expect([body, await create(body)]).toEqual([body, expect.objectContaining({ error: code })])
    expect((await server.call('GET', '/api/schedules')).json.data.items).toEqual([])
    const never = await server.call('GET', '/api/schedules/preview?cron=0+8+31+2+*&tz=UTC')
    expect(never.json.data).toEqual({ times: [] })
    await server.call('PATCH', '/api/preferences', { body: { time_zone: 'Europe/Berlin' } })
    expect((await made({ when: { cron: '0 8 * * *' } })).when).toEqual({
      cron: '0 8 * * *',
      tz: 'Europe/Berlin',
    })
  })

  test('a pattern that takes too long is a check that failed, and nothing else waits for it', async () => {
    upstreamProgram.current = () => turn.text('é '.repeat(90_000))
    const { id } = await made({
      when: { every: '1d' },
      checks: [{ answer: 'matches', value: '(?:\\pL|\\s){0,1000}\\d' }],
    })
    await server.call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => expect((await occurrences(id))[0]?.state).toBe('unmet'))
    const [{ checks }] = await occurrences(id)
    expect(checks).toMatchObject([{ passed: false, detail: expect.stringContaining('2 s') }])
  })

  test('a watched page starts a run only when it changed, and the model is given the change', async () => {
    const page = { text: 'Price: 10', looks: 0 }
    const site = createServer((_request, response) => {
      page.looks += 1
      response.setHeader('content-type', 'text/plain; charset=utf-8').end(page.text)
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    try {
      await server.close()
      server = await open({ network: { allow_private: ['127.0.0.0/8'] } })
      const { port } = site.address() as AddressInfo
      const { id } = await made({
        when: { every: '15m' },
        watch: { page: `http://127.0.0.1:${port}/` },
      })
      await clock.passTo('2026-03-27T07:44:52Z')
      await eventually(async () => expect((await get(id)).watched_at).toBeTruthy())
      const { watched_at } = await get(id)
      await clock.passTo('2026-03-27T07:59:52Z')
      await eventually(async () => expect((await get(id)).watched_at).not.toBe(watched_at))
      expect(await occurrences(id)).toEqual([])
      page.text = 'Price: 12\u0001'
      await clock.passTo('2026-03-27T08:14:52Z')
      await eventually(async () =>
        expect(await states(id)).toEqual([['2026-03-27T08:14:50.000Z', 'done']]),
      )
      expect(page.looks).toBe(3)
      const [{ conversation_id }] = await occurrences(id)
      const messages = (await server.call('GET', `/api/conversations/${conversation_id}/messages`))
        .json.data.items
      expect(messages[0].attachments).toMatchObject([{ name: 'what-changed.diff' }])
      const seen = JSON.stringify(upstream.requests.at(-1))
      expect(seen).toContain('-Price: 10')
      expect(seen).toContain('+Price: 12')
    } finally {
      site.closeAllConnections()
      site.close()
    }
  })

  test('the tool makes a schedule once a person agrees, and its runs have no other tools than the run that made it', async () => {
    upstreamProgram.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([
            {
              id: 'call_1',
              name: 'schedule_create',
              arguments: { name: 'Weekly', text: 'Sum up.', when: { every: '7d' }, quiet: true },
            },
          ])
        : turn.text('Done.')
    const conversation = (await server.call('POST', '/api/conversations', { body: {} })).json.data
      .id
    const sent = await server.call('POST', `/api/conversations/${conversation}/messages`, {
      body: { text: 'Every week, please', stream: false },
    })
    const { run } = sent.json.data
    expect(run.pending_approvals).toHaveLength(1)
    expect(run.pending_approvals[0].preview.display).toContain('Weekly')
    expect((await server.call('GET', '/api/schedules')).json.data.items).toEqual([])
    await server.call('POST', `/api/runs/${run.id}/approvals`, {
      body: { id_ref: 'call_1', decision: 'approve' },
    })
    const { id } = await eventually(async () => {
      const [item] = (await server.call('GET', '/api/schedules')).json.data.items
      expect(item).toMatchObject({
        name: 'Weekly',
        created_by_run: run.id,
        approval: 'ask',
        tools: expect.arrayContaining(['web_search']),
      })
      return item
    })
    // That run could not have ended in this way; one of the schedule can.
    upstreamProgram.current = () =>
      turn.toolCalls([{ name: 'nothing_to_report', arguments: { reason: 'nothing new' } }])
    await server.call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => expect((await occurrences(id))[0]?.state).toBe('quiet'))
  })

  test.each(['same', 'new'])(
    'the tool does not change what a schedule does that asks less than its run, because of its project, in the conversation %s',
    async (conversation) => {
      const project = (
        await server.call('POST', '/api/projects', {
          body: { name: 'Trusted' },
        })
      ).json.data.id
      await server.call('PUT', `/api/projects/${project}`, {
        body: { defaults: { approval: 'auto' } },
      })
      const { id } = await made({ when: { every: '1d' }, project_id: project, conversation })
      upstreamProgram.current = ({ messages }) =>
        messages.at(-1)?.role === 'user'
          ? turn.toolCalls([
              { id: 'call_1', name: 'schedule_change', arguments: { id, text: 'Delete it all.' } },
            ])
          : turn.text('Done.')
      const own = (
        await server.call('POST', '/api/conversations', { body: { approval: 'auto_medium' } })
      ).json.data.id
      const sent = await server.call('POST', `/api/conversations/${own}/messages`, {
        body: { text: 'Change it.', stream: false },
      })
      expect(JSON.stringify(sent.json.data.message.process_steps)).toContain('may do more')
      expect((await get(id)).text).toBe('Look.')
    },
  )
})
