// Groups over real HTTP: created and changed by administrators, and what they forbid their members; on both databases.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

describeOnEachServer('groups', (start) => {
  const model = { api_url: upstream.url, api_key: 'test-key' }
  const accounts = useTwoAccounts(start, {
    approval: { default: 'auto_medium' },
    titles: 'off',
    models: [
      { id: 'large', ...model },
      { id: 'small', ...model, fallback: ['large'] },
    ],
    mcp_servers: { notes: { url: 'http://127.0.0.1:9/mcp' } },
  })
  let bobId = ''
  beforeAll(async () => {
    bobId = (await asBob('GET', '/api/auth/profile')).json.data.id
  })

  const asAdmin = (method: string, path: string, body?: unknown) =>
    accounts.call(method, `/api/admin/groups${path}`, body)
  const createGroup = async (name: string, fields: object = {}): Promise<string> =>
    (await asAdmin('POST', '', { name, ...fields })).json.data.id
  /** A group with bob in it, for the time of a test. */
  const withGroup = async (
    { name = 'restricted', ...fields }: { name?: string; [field: string]: unknown },
    work: (id: string) => Promise<void>,
  ) => {
    const id = await createGroup(name, fields)
    expect((await asAdmin('PUT', `/${id}/members/${bobId}`)).json.data.member_count).toBe(1)
    await work(id)
    expect((await asAdmin('DELETE', `/${id}`)).status).toBe(200)
  }
  const asBob = (method: string, path: string, body?: unknown) =>
    accounts.call(method, path, body, accounts.bob)
  const modelIds = async (): Promise<string[]> =>
    (await asBob('GET', '/api/models')).json.data.map(({ id }: { id: string }) => id)
  const toolNames = async (): Promise<string[]> =>
    (await asBob('GET', '/api/tools')).json.data.tools.map(
      (tool: { function: { name: string } }) => tool.function.name,
    )
  const conversation = async (fields: object = {}): Promise<string> =>
    (await asBob('POST', '/api/conversations', fields)).json.data.id
  const send = (id: string, body: object = {}) =>
    asBob('POST', `/api/conversations/${id}/messages`, { text: 'Go', stream: false, ...body })

  test('members of a group without schedules have neither their routes nor their tools, and can still switch one off', async () => {
    const made = await asBob('POST', '/api/schedules', {
      name: 'Daily',
      text: 'Look.',
      when: { every: '1d' },
    })
    expect(await toolNames()).toContain('schedule_create')
    await withGroup({ features: ['channels'] }, async () => {
      expect((await asBob('GET', '/api/schedules')).status).toBe(404)
      expect((await toolNames()).filter((name) => name.startsWith('schedule_'))).toEqual([])
      const path = `/api/schedules/${made.json.data.id}`
      expect((await asBob('PATCH', path, { text: 'Look again.' })).status).toBe(404)
      const off = await asBob('PATCH', path, { enabled: false })
      expect([off.status, off.json.data.enabled]).toEqual([200, false])
      expect((await asBob('PATCH', path, { enabled: true })).status).toBe(404)
    })
    expect(await toolNames()).toContain('schedule_create')
  })

  test('only an administrator can create, list, change and delete groups and their members', async () => {
    const id = await createGroup('Editors', {
      models: ['small'],
      description: 'They edit',
    })
    expect((await asAdmin('POST', '', { name: 'EDITORS' })).json).toMatchObject({
      code: 409,
      reason: 'group_name_taken',
    })
    const second = await createGroup('Authors')
    const firstPage = (await asAdmin('GET', '?limit=1')).json.data
    expect(firstPage).toMatchObject({ items: [{ name: 'Authors' }], has_more: true })
    const nextPage = (await asAdmin('GET', `?limit=1&cursor=${firstPage.next_cursor}`)).json.data
    expect(nextPage).toMatchObject({
      items: [{ id, models: ['small'], tools: null, description: 'They edit', member_count: 0 }],
      has_more: false,
    })
    const changed = await asAdmin('PATCH', `/${id}`, { models: null, tools: ['calculator'] })
    expect(changed.json.data).toMatchObject({
      name: 'Editors',
      models: null,
      tools: ['calculator'],
    })
    for (const _twice of [1, 2])
      expect((await asAdmin('PUT', `/${id}/members/${bobId}`)).json.data.member_count).toBe(1)
    expect((await asAdmin('GET', `/${id}/members`)).json.data.items).toMatchObject([
      { username: 'bob' },
    ])
    const users = await accounts.call('GET', '/api/admin/users?q=bob')
    expect(users.json.data.items[0].groups).toEqual([{ id, name: 'Editors' }])
    expect((await asAdmin('PUT', `/${id}/members/nobody`)).json).toMatchObject({
      reason: 'account_not_found',
    })
    expect((await asAdmin('DELETE', `/${id}/members/${bobId}`)).status).toBe(200)
    expect((await asAdmin('DELETE', `/${id}/members/${bobId}`)).status).toBe(404)
    for (const path of ['', `/${id}`, `/${id}/members`])
      expect((await asBob('GET', `/api/admin/groups${path}`)).status).toBe(403)
    expect((await asBob('PUT', `/api/admin/groups/${id}/members/${bobId}`)).status).toBe(403)
    for (const group of [id, second])
      expect((await asAdmin('DELETE', `/${group}`)).status).toBe(200)
    expect((await asAdmin('PATCH', `/${id}`, { name: 'x' })).status).toBe(404)
    const log = await accounts.call('GET', '/api/admin/audit?action=group_member_added')
    expect(log.json.data.items[0].details).toMatchObject({ id, user_id: bobId })
  })

  test('a member sees and runs only the allowed models, also as default, as fallback and through /v1', async () => {
    const before = await conversation({ model: 'large' })
    await withGroup({ models: ['small'] }, async () => {
      expect(await modelIds()).toEqual(['small'])
      const programs = (await asBob('GET', '/v1/models')).json as unknown as {
        data: { id: string }[]
      }
      expect(programs.data.map(({ id }) => id)).toEqual(['nanoclaw/small'])
      expect((await asBob('GET', '/v1/models/nanoclaw/large')).status).toBe(404)
      const refusal = {
        code: 403,
        reason: 'model_not_permitted',
        params: { model: 'large', available: ['small'] },
      }
      expect((await asBob('POST', '/api/conversations', { model: 'large' })).json).toMatchObject(
        refusal,
      )
      expect((await send(before)).json).toMatchObject(refusal)
      const chosen = await asBob('POST', '/v1/chat/completions', {
        model: 'nanoclaw/large',
        messages: [{ role: 'user', content: 'Go' }],
      })
      expect(chosen.status).toBe(403)
      upstream.enqueue(turn.text('Small.'))
      const response = await send(await conversation())
      expect(response.json.data.run).toMatchObject({ model: 'small', status: 'completed' })
      // The fallback of `small` is not allowed: nothing else answers instead.
      const count = upstream.requests.length
      upstream.enqueue(turn.json(401, { error: { message: 'no' } }))
      expect((await send(await conversation())).json.data.run.status).toBe('failed')
      expect(upstream.requests.length).toBe(count + 1)
    })
    expect(await modelIds()).toEqual(['large', 'small'])
    upstream.enqueue(turn.text('Large.'))
    expect((await send(before)).json.data.run).toMatchObject({ model: 'large' })
  })

  test('a member is offered only the allowed tools and MCP servers, and a call of another is refused', async () => {
    await withGroup({ tools: ['calculator'], mcp_servers: [] }, async (id) => {
      expect(await toolNames()).toEqual(['calculator'])
      expect((await asBob('GET', '/api/mcp')).json.data.servers).toEqual([])
      expect((await asBob('POST', '/api/mcp/notes/connect')).status).toBe(404)
      upstream.enqueue(
        turn.toolCalls([{ name: 'get_current_time', arguments: {} }]),
        turn.text('Done.'),
      )
      const { run, message } = (await send(await conversation())).json.data
      expect(run.status).toBe('completed')
      const offered = upstream.requests.at(-1)?.body.tools as { function: { name: string } }[]
      expect(offered.map((tool) => tool.function.name)).toEqual(['calculator'])
      const result = message.process_steps.find(
        (step: { type: string }) => step.type === 'tool_result',
      )
      expect(result.content).toMatch(/get_current_time/)
      expect(JSON.parse(result.content)).toMatchObject({ success: false })
      // Everybody else, and people without a group, keep everything; a second group adds what it lists.
      const others = await accounts.call('GET', '/api/mcp')
      expect(others.json.data.servers).toMatchObject([{ name: 'notes' }])
      const second = await createGroup('time', { tools: ['get_current_time'] })
      await asAdmin('PUT', `/${second}/members/${bobId}`)
      expect((await toolNames()).toSorted()).toEqual(['calculator', 'get_current_time'])
      await asAdmin('DELETE', `/${second}`)
      await asAdmin('PATCH', `/${id}`, { tools: null })
      expect((await toolNames()).length).toBeGreaterThan(2)
    })
  })

  test('a disallowed approval mode is refused, and a stricter one replaces it where it was already stored', async () => {
    const before = await conversation({ approval: 'auto' })
    const unrestricted = await asBob('GET', '/api/quota')
    expect(unrestricted.json.data.default_approval).toBe('auto_medium')
    await withGroup({ approval_modes: ['ask'] }, async () => {
      const refusal = { code: 403, reason: 'approval_mode_not_permitted' }
      for (const answer of [
        await asBob('POST', '/api/conversations', { approval: 'auto' }),
        await asBob('PATCH', `/api/conversations/${before}`, { approval: 'auto_medium' }),
        await send(before, { approval: 'auto' }),
      ])
        expect(answer.json).toMatchObject(refusal)
      upstream.enqueue(
        turn.toolCalls([{ name: 'message', arguments: { content: 'Hi', to: before } }]),
      )
      const { run } = (await send(before)).json.data
      expect(run.status).toBe('awaiting_approval')
      const { json } = await asBob('GET', '/api/quota')
      expect(json.data).toMatchObject({ approval_modes: ['ask'], default_approval: 'ask' })
      await asBob('POST', `/api/runs/${run.id}/stop`)
    })
  })

  test('the usage of a month is reported by account and by group, page by page and as CSV, to administrators only', async () => {
    const report = async (query: string) =>
      (await accounts.call('GET', `/api/admin/usage?${query}`)).json.data
    const before = await report('')
    await withGroup({ name: '=Sum' }, async () => {
      upstream.enqueue(
        turn.text('Done.', {
          usage: { prompt_tokens: 100_000, completion_tokens: 5, total_tokens: 100_005 },
        }),
      )
      expect((await send(await conversation({ model: 'small' }))).status).toBe(200)
      const first = await report('limit=1')
      const month = new Date().toISOString().slice(0, 7)
      expect(first).toMatchObject({ month, first_month: month, items: [{ name: 'bob' }] })
      const [bob] = first.items
      expect(first.total.total_tokens - before.total.total_tokens).toBe(100_005)
      const groups = await report('by=group')
      expect(groups.items[0]).toMatchObject({ name: '=Sum', total_tokens: bob.total_tokens })
      const file = await fetch(`${accounts.server.url}/api/admin/usage/file?by=group`, {
        headers: { authorization: `Bearer ${accounts.ann}` },
      })
      // Not `text()`, which removes the mark of UTF-8.
      const lines = Buffer.from(await file.arrayBuffer())
        .toString()
        .split('\r\n')
      expect(lines.slice(0, 2)).toEqual([
        '\uFEFFmonth,group,prompt_tokens,completion_tokens,total_tokens,cached_tokens',
        `${month},'=Sum,${bob.prompt_tokens},${bob.completion_tokens},${bob.total_tokens},${bob.cached_tokens}`,
      ])
    })
    // Without the group, its members count as accounts without one.
    expect((await report('by=group')).items).toMatchObject([{ id: null, name: null }])
    expect((await report('month=2020-01')).items).toEqual([])
    for (const path of ['/api/admin/usage', '/api/admin/usage/file'])
      expect((await asBob('GET', path)).status).toBe(403)
    expect((await accounts.call('GET', '/api/admin/usage?month=2020-13')).status).toBe(400)
  })
})
