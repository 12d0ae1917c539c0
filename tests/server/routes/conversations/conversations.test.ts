// Conversations over real HTTP, on both databases.
import { expect, test } from 'vitest'
import { describeOnEachServer } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'

describeOnEachServer('conversations', (start) => {
  const accounts = useTwoAccounts(start)
  const { call } = accounts
  const send = (id: string) =>
    call('POST', `/api/conversations/${id}/messages`, { text: 'Count the apples', stream: false })
  const make = async (body: unknown = {}, token = accounts.ann) =>
    (await call('POST', '/api/conversations', body, token)).json.data

  test('a conversation is created with the given settings, and with defaults without a body', async () => {
    const made = await make({
      title: '  Plans ',
      system_prompt: 'Be brief.',
      temperature: 0.5,
      max_tokens: 100,
      thinking_enabled: true,
      approval: 'auto_medium',
      user_id: 'somebody else',
    })
    expect(made).toMatchObject({
      title: 'Plans',
      system_prompt: 'Be brief.',
      temperature: 0.5,
      max_tokens: 100,
      thinking_enabled: true,
      approval: 'auto_medium',
      message_count: 0,
      active_run_id: null,
      project_name: null,
      scratch_project_id: null,
      archived: false,
    })
    expect(made).not.toHaveProperty('user_id')
    expect(made.created_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    const bare = await accounts.server.call('POST', '/api/conversations', { token: accounts.ann })
    expect(bare.json.data).toMatchObject({ model: null, temperature: null, approval: null })
  })

  test.each([
    [{ temperature: 2.1 }],
    [{ temperature: -1 }],
    [{ temperature: '1' }],
    [{ max_tokens: 0 }],
    [{ max_tokens: 1.5 }],
    [{ title: 'x'.repeat(256) }],
    [{ title: 5 }],
    [{ model: 'no such model' }],
    [{ approval: 'never' }],
    [{ thinking_enabled: 'yes' }],
    [[]],
    ['text'],
  ])('the settings %j return 400', async (body) => {
    const response = await call('POST', '/api/conversations', body)
    expect(response.status).toBe(400)
    expect(response.json).toMatchObject({ code: 400, message: expect.any(String) })
  })

  test('a patch changes what it names, null clears a field, and an empty patch changes nothing', async () => {
    const { id } = await make({ title: 'Before', temperature: 1, system_prompt: 'x' })
    const path = `/api/conversations/${id}`
    const patched = await call('PATCH', path, { title: 'After', pinned: true, temperature: null })
    expect(patched.json.data).toMatchObject({
      title: 'After',
      pinned: true,
      temperature: null,
      system_prompt: 'x',
    })
    expect((await call('PATCH', path, {})).json.data).toEqual(patched.json.data)
    expect((await call('PATCH', path, { title: null })).json.data.title).toBe('After')
    expect((await call('PATCH', path, { leaf_id: 'nothing' })).status).toBe(404)
    expect((await call('PATCH', path, { project_id: 'nothing' })).status).toBe(404)
  })

  test('pinned conversations keep the stored order, and one that is pinned again has no position', async () => {
    const ids: string[] = []
    for (const title of ['one', 'two', 'three']) {
      const { id } = await make({ title })
      await call('PATCH', `/api/conversations/${id}`, { pinned: true })
      ids.push(id)
    }
    const [one = '', two = '', three = ''] = ids
    const loose = await make({ title: 'not pinned' })
    const foreign = await make({ title: 'his' }, accounts.bob)
    await call('PATCH', `/api/conversations/${foreign.id}`, { pinned: true }, accounts.bob)
    const order = { ids: [three, loose.id, foreign.id, one] }
    expect((await call('PUT', '/api/conversations/pins', order)).status).toBe(200)
    const place = async (id: string, token = accounts.ann) =>
      (await call('GET', `/api/conversations/${id}`, undefined, token)).json.data.pin_position
    expect(await place(three)).toBe(0)
    expect(await place(one)).toBe(3)
    expect(await place(two)).toBeNull()
    expect(await place(loose.id)).toBeNull()
    expect(await place(foreign.id, accounts.bob)).toBeNull()
    await call('DELETE', `/api/conversations/${foreign.id}?permanent=true`, undefined, accounts.bob)
    await call('PATCH', `/api/conversations/${one}`, { pinned: true })
    expect(await place(one)).toBe(3)
    await call('PATCH', `/api/conversations/${one}`, { pinned: false })
    await call('PATCH', `/api/conversations/${one}`, { pinned: true })
    expect(await place(one)).toBeNull()
    for (const body of [{ ids: [] }, { ids: 'x' }, { ids: ids.concat(Array(200).fill('x')) }])
      expect((await call('PUT', '/api/conversations/pins', body)).status).toBe(400)
  })

  test('every request to somebody else’s conversation returns 404', async () => {
    const { id } = await make({ title: 'Secret plans' })
    const path = `/api/conversations/${id}`
    const nowhere = '/api/conversations/01990000-0000-7000-8000-000000000000'
    for (const [method, tail, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { title: 'Mine' }],
      ['DELETE', '', undefined],
      ['GET', '/messages', undefined],
      ['POST', '/messages', { text: 'hello' }],
    ] as const) {
      const foreign = await call(method, path + tail, body, accounts.bob)
      const absent = await call(method, nowhere + tail, body, accounts.bob)
      expect(foreign.status, `${method} ${tail}`).toBe(404)
      expect(foreign.json).toEqual({ ...absent.json, request_id: expect.any(String) })
    }
    expect((await call('GET', path)).json.data.title).toBe('Secret plans')
    expect(
      JSON.stringify(
        (await call('GET', '/api/conversations?q=secret', undefined, accounts.bob)).json,
      ),
    ).not.toContain(id)
  })

  test('the list is paged by cursor without gaps or duplicates, and can be filtered', async () => {
    for (let number = 0; number < 7; number += 1)
      await make({ title: `Página ${number}` }, accounts.bob)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { json } = await call(
        'GET',
        `/api/conversations?limit=3${query}`,
        undefined,
        accounts.bob,
      )
      seen.push(...json.data.items.map(({ title }: { title: string }) => title))
      cursor = json.data.next_cursor
      expect(json.data.has_more).toBe(cursor !== null)
    } while (cursor !== null)
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `Página ${number}`))
    const found = await call('GET', '/api/conversations?q=P%C3%81GINA%203', undefined, accounts.bob)
    expect(found.json.data.items).toHaveLength(1)
    await call(
      'PATCH',
      `/api/conversations/${found.json.data.items[0].id}`,
      { archived: true },
      accounts.bob,
    )
    const archived = await call('GET', '/api/conversations?archived=true', undefined, accounts.bob)
    expect(archived.json.data.items).toHaveLength(1)
    expect(
      (await call('GET', '/api/conversations', undefined, accounts.bob)).json.data.items,
    ).toHaveLength(6)
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense', 'archived=maybe', 'cursor=e30'])(
    'the query %s returns 400',
    async (query) => expect((await call('GET', `/api/conversations?${query}`)).status).toBe(400),
  )

  test('deleting messages returns their number, and only the owner can undo it', async () => {
    const { id } = await make()
    const answer = (await send(id)).json.data
    await send(id)
    const messages = async () =>
      (await call('GET', `/api/conversations/${id}/messages`)).json.data.items
    const before = await messages()
    expect(before).toHaveLength(4)
    const path = `/api/conversations/${id}/messages/${before[0].id}`
    expect((await call('GET', `${path}/deletion`)).json.data).toEqual({ messages: 4 })
    expect((await call('GET', `${path}/deletion`, undefined, accounts.bob)).status).toBe(404)
    expect(await messages()).toEqual(before)
    expect((await call('DELETE', path)).json).toEqual({
      code: 0,
      message: 'deleted',
      deleted_messages: 4,
    })
    expect(await messages()).toEqual([])
    const run = `/api/runs/${answer.run.id}`
    expect((await call('GET', run)).status).toBe(404)
    expect((await call('DELETE', path)).status).toBe(404)
    expect((await call('POST', `${path}/restore`, undefined, accounts.bob)).status).toBe(404)
    expect((await call('POST', `${path}/restore`)).json.data).toEqual({ restored_messages: 4 })
    expect(await messages()).toEqual(before)
    expect((await call('GET', run)).status).toBe(200)
    expect((await call('POST', `${path}/restore`)).status).toBe(404)
  })

  test('a deleted conversation returns 404', async () => {
    const { id } = await make()
    expect((await call('DELETE', `/api/conversations/${id}`)).json).toEqual({
      code: 0,
      message: 'deleted',
    })
    expect((await call('GET', `/api/conversations/${id}`)).status).toBe(404)
    expect((await call('DELETE', `/api/conversations/${id}`)).status).toBe(404)
  })

  test('a default title that a client sends counts as no title', async () => {
    const isTitled = async (body: object, patch?: object): Promise<boolean> => {
      const { id } = await make(body)
      if (patch !== undefined)
        expect((await call('PATCH', `/api/conversations/${id}`, patch)).status).toBe(200)
      await send(id)
      const { title } = (await call('GET', `/api/conversations/${id}`)).json.data
      return title !== 'Count the apples'
    }
    // At the same time, because the demo takes a second for each answer.
    const untitled = await Promise.all([
      isTitled({}),
      isTitled({ title: '新对话' }),
      isTitled({ title: '' }),
      isTitled({ title: '新对话' }, { title: '新对话', temperature: 1 }),
      isTitled({ title: 'Apples' }, { title: '', temperature: 1 }),
    ])
    expect(untitled).toEqual([false, false, false, false, false])
    const titled = [isTitled({ title: 'Apples' }), isTitled({}, { title: 'Apples' })]
    expect(await Promise.all(titled)).toEqual([true, true])
    const { id } = await make({ title: 'Apples' })
    const patched = await call('PATCH', `/api/conversations/${id}`, { title: '', temperature: 1 })
    expect(patched.json.data).toMatchObject({ title: 'New conversation', temperature: 1 })
  })

  test('token statistics list every hour or day of their period', async () => {
    const tokens = {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      cached_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
    }
    const unused = { ...tokens, prompt: 0, completion: 0, total: 0 }
    const daily = await call('GET', '/api/stats/tokens', undefined, accounts.bob)
    expect(daily.json.data).toEqual({
      period: 'daily',
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      cached_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      by_model: {},
      hourly: Object.fromEntries(
        Array.from({ length: 24 }, (_, hour) => [String(hour).padStart(2, '0'), unused]),
      ),
      cost: {},
    })
    const days = (period: string, token = accounts.bob) =>
      call('GET', `/api/stats/tokens?period=${period}`, undefined, token)
    const weekly = (await days('weekly')).json.data.daily
    expect(Object.keys(weekly)).toHaveLength(7)
    expect(Object.values(weekly)).toEqual(Array(7).fill(unused))
    expect(Object.keys((await days('monthly')).json.data.daily)).toHaveLength(30)
    expect((await call('GET', '/api/stats/tokens?period=yearly')).status).toBe(400)
    expect((await call('GET', '/api/admin/stats', undefined, accounts.bob)).status).toBe(403)
  })
})
