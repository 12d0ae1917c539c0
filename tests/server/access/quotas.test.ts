// Quotas over real HTTP: set for a user or a group, enforced before and during runs, and reported with their renewal; on both databases.
import { createHmac } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { startReceiver } from '../messaging/receivers.ts'

const upstream = await useUpstream()
const usage = (tokens: number) => ({
  usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
})

describeOnEachServer('quotas', (start) => {
  let server: TestServer
  let admin = ''
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      titles: 'off',
      network: { allow_private: ['127.0.0.1'] },
      limits: { registrations_per_hour: 100 },
      models: [
        {
          id: 'scripted',
          api_url: upstream.url,
          price: { input: 1_000_000, output: 1_000_000, currency: 'USD' },
        },
      ],
    })
    admin = await register(server, 'ada')
  })
  const person = async (name: string, quota?: object) => {
    const token = await register(server, name)
    const call = (method: string, path: string, body?: unknown) =>
      server.call(method, path, { body, token })
    const { id } = (await call('GET', '/api/auth/profile')).json.data
    const set = (fields: object) =>
      server.call('PATCH', `/api/admin/users/${id}`, { body: { quota: fields }, token: admin })
    if (quota !== undefined) expect((await set(quota)).status).toBe(200)
    const ask = async (body: object = {}) => {
      const conversation = (await call('POST', '/api/conversations', {})).json.data.id
      return call('POST', `/api/conversations/${conversation}/messages`, {
        text: 'Go',
        stream: false,
        ...body,
      })
    }
    const items = async () => (await call('GET', '/api/quota')).json.data.items
    return { id, headers: { authorization: `Bearer ${token}` }, call, set, ask, items }
  }

  test('a user who has reached the daily token limit is refused with the time of renewal until an administrator raises the limit', async () => {
    const bob = await person('bob', { tokens_per_day: 100 })
    upstream.enqueue(turn.text('One.', usage(150)))
    expect((await bob.ask()).json.data.run.status).toBe('completed')
    const tomorrow = new Date(Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000)
    expect(await bob.items()).toContainEqual({
      kind: 'tokens_per_day',
      group: null,
      limit: 100,
      used: 150,
      currency: null,
      renews_at: tomorrow.toISOString(),
    })
    const refused = await bob.ask()
    expect(refused.json).toMatchObject({
      code: 429,
      error: 'budget_exceeded',
      reason: 'tokens_per_day_used_up',
      params: { limit: 100, renews_at: tomorrow.toISOString() },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const program = await bob.call('POST', '/v1/chat/completions', {
      model: 'nanoclaw/scripted',
      messages: [{ role: 'user', content: 'Go' }],
    })
    expect(program.status).toBe(429)
    await bob.set({ tokens_per_day: null })
    upstream.enqueue(turn.text('Two.', usage(1)))
    expect((await bob.ask()).status).toBe(200)
  })

  test('a run stops before the next model call when the limit is reached during it', async () => {
    const cyd = await person('cyd', { cost_per_month: 40 })
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1+1' } }], usage(50)),
    )
    const { run, message } = (await cyd.ask()).json.data
    expect([run.status, run.finish_reason]).toEqual(['completed', 'budget'])
    // The run ends with the reason of later refusals: which limit it is, and when it is renewed.
    const { content, ...why } = run.limit
    expect(why.reason).toBe('cost_per_month_used_up')
    expect((await cyd.ask()).json).toMatchObject({ ...why, message: content })
    const events = await fetch(`${server.url}/api/runs/${run.id}/events`, { headers: cyd.headers })
    expect(await events.text()).toContain(why.params.renews_at)
    expect(message.limit).toEqual(run.limit)
    expect(await cyd.items()).toContainEqual(
      expect.objectContaining({ kind: 'cost_per_month', used: 50, limit: 40, currency: 'USD' }),
    )
  })

  test("members share their group's shared limit, and an account's limit takes precedence over the group's limit per member", async () => {
    const [dan, eve] = [await person('dan'), await person('eve', { concurrent_runs: 3 })]
    const { id } = (
      await server.call('POST', '/api/admin/groups', {
        body: {
          name: 'team',
          quota: { concurrent_runs: 2, storage: 1000 },
          shared_quota: { tokens_per_month: 100 },
        },
        token: admin,
      })
    ).json.data
    for (const member of [dan, eve])
      await server.call('PUT', `/api/admin/groups/${id}/members/${member.id}`, { token: admin })
    upstream.enqueue(turn.text('One.', usage(120)))
    expect((await dan.ask()).status).toBe(200)
    expect((await eve.ask()).json).toMatchObject({
      code: 429,
      reason: 'group_tokens_used_up',
      params: { group: 'team', limit: 100 },
    })
    const limitOf = async (who: typeof dan, kind: string) =>
      (await who.items()).find((item: { kind: string }) => item.kind === kind)?.limit
    expect([await limitOf(dan, 'concurrent_runs'), await limitOf(eve, 'concurrent_runs')]).toEqual([
      2, 3,
    ])
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(2000)]), 'large.txt')
    const stored = await fetch(`${server.url}/api/files`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${await login('dan')}` },
    })
    expect(stored.status).toBe(413)
    const report = await server.call('GET', `/api/admin/users/${dan.id}/quota`, { token: admin })
    expect(report.json.data.items).toContainEqual(
      expect.objectContaining({ kind: 'tokens_per_month', group: 'team', used: 120 }),
    )
    await server.call('DELETE', `/api/admin/groups/${id}`, { token: admin })
    upstream.enqueue(turn.text('Two.', usage(1)))
    expect((await eve.ask()).status).toBe(200)
  })
  const login = async (username: string): Promise<string> =>
    (
      await server.call('POST', '/api/auth/login', {
        body: { username, password: 'a good password' },
      })
    ).json.data.token

  test('a user cannot exceed the allowed number of concurrent runs and of requests per minute', async () => {
    const flo = await person('flo', { concurrent_runs: 0 })
    expect((await flo.ask()).json).toMatchObject({ reason: 'runs_exhausted', params: { limit: 0 } })
    await flo.set({ requests_per_minute: 5 })
    const statuses: number[] = []
    for (let sent = 0; sent < 7; sent += 1)
      statuses.push((await flo.call('GET', '/api/tags')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect((await flo.call('GET', '/api/tags')).json).toMatchObject({
      reason: 'requests_exhausted',
      params: { limit: 5 },
    })
    const others = await server.call('GET', '/api/tags', { token: admin })
    expect(others.status).toBe(200)
  })

  test('channel messages and program seconds are counted, and refused when the limit is reached', async () => {
    const hal = await person('hal', { messages_per_day: 1, program_seconds_per_day: 0 })
    await hal.call('POST', '/api/channels', {
      type: 'webhook',
      name: 'team',
      settings: { url: 'https://hooks.invalid/x' },
    })
    const message = { name: 'message', arguments: { content: 'Hi', to: 'channel:team' } }
    const program = { name: 'execute_python', arguments: { code: 'print(1)' } }
    const contents: string[] = []
    for (const call of [message, message, program]) {
      upstream.enqueue(turn.toolCalls([call], usage(1)), turn.text('Done.', usage(1)))
      const steps = (await hal.ask({ approval: 'auto' })).json.data.message.process_steps
      contents.push(steps.find((step: { type: string }) => step.type === 'tool_result').content)
    }
    expect(contents[0]).not.toContain('used up')
    expect(contents[1]).toContain('You have used up today’s limit of channel messages (1)')
    expect(contents[2]).toContain('seconds for running programs')
    expect(await hal.items()).toContainEqual(
      expect.objectContaining({ kind: 'messages_per_day', used: 1, limit: 1 }),
    )
  })

  test("setting an account's role to its current value ends none of its requests", async () => {
    const gus = await person('gus')
    const token = await login('gus')
    const events = await fetch(`${server.url}/api/events`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const reader = events.body?.getReader()
    await reader?.read()
    await server.call('PATCH', `/api/admin/users/${gus.id}`, {
      body: { role: 'user' },
      token: admin,
    })
    const conversation = await gus.call('POST', '/api/conversations', { title: 'still here' })
    let text = ''
    while (!text.includes(conversation.json.data.id)) {
      const piece = await reader?.read()
      expect(piece?.done).toBe(false)
      text += new TextDecoder().decode(piece?.value)
    }
    await reader?.cancel()
  })

  test('a webhook receives the approval, the end of the run and the reached limit once each, signed with a secret that is shown once and can be replaced', async () => {
    const { url, received } = await startReceiver()
    const hal = await person('mel', { tokens_per_day: 100 })
    const eve = await person('noa')
    const events = ['run.ended', 'approval.required', 'quota.reached']
    const { secret, ...webhook } = (await hal.call('POST', '/api/webhooks', { url, events })).json
      .data
    expect((await hal.call('GET', '/api/webhooks')).json.data.items).toEqual([webhook])
    for (const [method, path] of [
      ['DELETE', ''],
      ['PATCH', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const)
      expect(
        (
          await eve.call(
            method,
            `/api/webhooks/${webhook.id}${path}`,
            method === 'PATCH' ? {} : undefined,
          )
        ).status,
      ).toBe(404)
    const call = { name: 'message', arguments: { content: 'Hello' } }
    upstream.enqueue(turn.toolCalls([call], usage(60)), turn.text('Done.', usage(60)))
    const waiting = (await hal.ask({ approval: 'ask' })).json.data.run
    const pending = (await hal.call('GET', `/api/runs/${waiting.id}`)).json.data.pending_approvals
    const decision = { id_ref: pending[0].id_ref, decision: 'reject' }
    await hal.call('POST', `/api/runs/${waiting.id}/approvals`, decision)
    await eventually(() => expect(received).toHaveLength(2))
    for (const _ of [1, 2]) expect((await hal.ask()).status).toBe(429)
    await eventually(() => expect(received).toHaveLength(3))
    const bodies = received.map(({ headers, body }) => {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      const signature = createHmac('sha256', key).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
      return JSON.parse(body)
    })
    expect(bodies).toMatchObject([
      {
        type: 'approval.required',
        data: { run_id: waiting.id, name: 'message', ...{ id_ref: decision.id_ref } },
      },
      {
        type: 'run.ended',
        data: { run_id: waiting.id, status: 'completed', usage: { total_tokens: 120 } },
      },
      { type: 'quota.reached', data: { error: 'tokens_per_day_used_up', limit: 100 } },
    ])
    const sent = await hal.call('POST', `/api/webhooks/${webhook.id}/test`)
    expect(sent.json.data).toMatchObject({ event: 'webhook.test', status: 'delivered' })
    const signaturesWith = async (...secrets: string[]) => {
      const { status } = await hal.call('POST', `/api/webhooks/${webhook.id}/test`)
      expect(status).toBe(200)
      const last = received.at(-1)
      if (last === undefined) throw new Error('nothing was received')
      const { headers, body } = last
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const expected = secrets.map((one) => {
        const key = Buffer.from(one.slice('whsec_'.length), 'base64')
        return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
      })
      expect(headers['webhook-signature']).toBe(expected.join(' '))
    }
    const replace = (body: object) => hal.call('POST', `/api/webhooks/${webhook.id}/secret`, body)
    expect((await eve.call('POST', `/api/webhooks/${webhook.id}/secret`, {})).status).toBe(404)
    expect((await replace({ overlap_hours: 169 })).status).toBe(400)
    const second = (await replace({})).json.data
    expect(second.secret).not.toBe(secret)
    expect(Date.parse(second.earlier_secret_until) - Date.now()).toBeGreaterThan(86_000_000)
    await signaturesWith(second.secret, secret)
    const third = (await replace({ overlap_hours: 0 })).json.data
    expect(third.earlier_secret_until).toBeNull()
    await signaturesWith(third.secret)
    const listed = await hal.call('GET', `/api/webhooks/${webhook.id}/deliveries`)
    expect(listed.json.data.items).toHaveLength(6)
    await hal.call('DELETE', `/api/webhooks/${webhook.id}`)
    expect((await hal.call('GET', '/api/webhooks')).json.data.items).toEqual([])
  })
})
