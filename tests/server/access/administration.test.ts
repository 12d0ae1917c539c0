// The administration of the whole server over real HTTP: runs, health, settings, MCP servers, storage, usage; on both databases.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

describeOnEachServer('the administration of a server', (start) => {
  const accounts = useTwoAccounts(start, {
    titles: 'off',
    models: [
      { id: 'one', api_url: upstream.url },
      { id: 'two', api_url: upstream.url },
    ],
    mcp_servers: { notes: { url: 'http://127.0.0.1:9/mcp', users: ['bob'] } },
  })
  let bobId = ''
  beforeAll(async () => {
    bobId = (await asBob('GET', '/api/auth/profile')).json.data.id
  })
  const asAdmin = (method: string, path: string, body?: unknown) =>
    accounts.call(method, `/api/admin${path}`, body)
  const asBob = (method: string, path: string, body?: unknown) =>
    accounts.call(method, path, body, accounts.bob)
  const send = async (body: object) => {
    const { id } = (await asBob('POST', '/api/conversations', {})).json.data
    return asBob('POST', `/api/conversations/${id}/messages`, {
      text: 'Go',
      stream: false,
      ...body,
    })
  }

  test('an administrator lists active runs without their texts and stops one, and other users cannot', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'message', arguments: { content: 'secret words', to: 'x' } }]),
    )
    const { run } = (await send({})).json.data
    const { json } = await asAdmin('GET', '/runs')
    expect(json.data.items).toMatchObject([
      { id: run.id, user_id: bobId, username: 'bob', model: 'one' },
    ])
    expect(JSON.stringify(json)).not.toContain('secret words')
    for (const path of ['/runs', '/health', '/storage', '/settings', '/mcp'])
      expect((await asBob('GET', `/api/admin${path}`)).status).toBe(403)
    expect((await asAdmin('POST', `/runs/${run.id}/stop`)).json.data.items).toEqual([])
    expect((await asBob('GET', `/api/runs/${run.id}`)).json.data.status).toBe('stopped')
    expect((await asAdmin('POST', `/runs/${run.id}/stop`)).status).toBe(404)
  })

  test('stored settings override the configuration at once, and null restores it', async () => {
    const initial = (await asAdmin('GET', '/settings')).json.data
    expect(initial).toMatchObject({
      registration: null,
      effective: {
        registration: 'open',
        sharing: 'on',
        default_model: null,
        default_approval: 'ask',
      },
    })
    await asAdmin('PATCH', '/settings', {
      registration: 'closed',
      sharing: 'off',
      model_order: ['two'],
      hidden_models: ['one'],
    })
    expect((await accounts.server.call('GET', '/api/auth/mode')).json.data.registration).toBe(
      'closed',
    )
    const refused = await accounts.server.call('POST', '/api/auth/register', {
      body: { username: 'eve', password: 'a good password' },
    })
    expect(refused.status).toBe(403)
    const { id } = (await asBob('POST', '/api/conversations', {})).json.data
    expect((await asBob('POST', `/api/conversations/${id}/share`, {})).json).toMatchObject({
      reason: 'sharing_off',
    })
    const names = async () =>
      (await asBob('GET', '/api/models')).json.data.map((model: { id: string }) => model.id)
    expect(await names()).toEqual(['two'])
    const returned = { registration: null, sharing: null, hidden_models: [] }
    await asAdmin('PATCH', '/settings', { ...returned, default_model: 'two' })
    const ofDefault = async () =>
      (await asBob('GET', '/api/models')).json.data.find(
        (model: { default: boolean }) => model.default,
      ).id
    expect(await ofDefault()).toBe('two')
    expect((await asAdmin('PATCH', '/settings', { default_model: 'none' })).json).toMatchObject({
      reason: 'unknown_model',
    })
    await asAdmin('PATCH', '/settings', { default_model: null })
    expect(await ofDefault()).toBe('one')
    expect(await names()).toEqual(['two', 'one'])
    expect((await accounts.server.call('GET', '/api/auth/mode')).json.data.registration).toBe(
      'open',
    )
    expect((await asAdmin('PATCH', '/settings', { registration: 'maybe' })).status).toBe(400)
  })

  test('the default approval mode applies to conversations without their own, within what groups allow', async () => {
    const messageCall = () =>
      upstream.enqueue(
        turn.toolCalls([{ name: 'message', arguments: { content: 'Hi', to: 'nobody' } }]),
        turn.text('Done'),
      )
    const defaultOfBob = async () => (await asBob('GET', '/api/quota')).json.data.default_approval
    expect(await defaultOfBob()).toBe('ask')
    expect(
      (await asAdmin('PATCH', '/settings', { default_approval: 'auto' })).json.data,
    ).toMatchObject({
      default_approval: 'auto',
      effective: { default_approval: 'auto' },
      configured: { default_approval: 'ask' },
    })
    expect(await defaultOfBob()).toBe('auto')
    messageCall()
    expect((await send({})).json.data.run.status).toBe('completed')
    const group = (await asAdmin('POST', '/groups', { name: 'careful', approval_modes: ['ask'] }))
      .json.data.id
    await asAdmin('PUT', `/groups/${group}/members/${bobId}`)
    expect(await defaultOfBob()).toBe('ask')
    messageCall()
    const { run } = (await send({})).json.data
    expect(run.status).toBe('awaiting_approval')
    await asBob('POST', `/api/runs/${run.id}/stop`)
    await asAdmin('DELETE', `/groups/${group}`)
    expect((await asAdmin('PATCH', '/settings', { default_approval: 'never' })).status).toBe(400)
    await asAdmin('PATCH', '/settings', { default_approval: null })
    expect(await defaultOfBob()).toBe('ask')
  })

  test("the health route returns the doctor's findings, and the list of MCP servers says who may use each", async () => {
    const found = (await asAdmin('GET', '/health')).json.data.items
    expect(found.find((one: { subject: string }) => one.subject === 'data folder')).toMatchObject({
      state: 'ok',
      code: 'folder_ok',
      params: { name: 'data folder' },
    })
    await asAdmin('POST', '/groups', { name: 'Readers', mcp_servers: ['notes'] })
    expect((await asAdmin('GET', '/mcp')).json.data.items).toMatchObject([
      { name: 'notes', users: ['bob'], groups: ['Readers'] },
    ])
  })

  test('the storage of accounts is listed by kind, largest first, in pages, with a total', async () => {
    await asBob('POST', '/api/projects', { name: 'Notes' })
    const project = (await asBob('GET', '/api/projects')).json.data.items[0].id
    const write = (content: string) =>
      asBob('PUT', `/api/projects/${project}/files/a.txt`, { content })
    await write('a'.repeat(5000))
    await write('b'.repeat(300))
    const upload = async (path: string, token: string, field: string, bytes: number) => {
      const body = new FormData()
      body.append(field, new Blob(['n'.repeat(bytes)]), 'notes.txt')
      const headers = { authorization: `Bearer ${token}` }
      expect((await fetch(accounts.server.url + path, { method: 'POST', body, headers })).ok).toBe(
        true,
      )
    }
    await upload('/api/files', accounts.ann, 'file', 700)
    await upload(`/api/projects/${project}/documents`, accounts.bob, 'files[]', 400)
    const first = (await asAdmin('GET', '/storage?limit=1')).json.data
    const stored = { projects: 300, history: 5000, files: 0, documents: 400, total: 5700 }
    expect(first).toMatchObject({
      items: [{ user_id: bobId, username: 'bob', ...stored, limit: 5 * 1024 ** 3 }],
      has_more: true,
      all: { ...stored, files: 700, total: 6400 },
    })
    const rest = (await asAdmin('GET', `/storage?cursor=${first.next_cursor}`)).json.data
    expect(rest).toMatchObject({ items: [{ username: 'ann', files: 700, total: 700 }] })
    // The history grows with the next change.
    await write('c'.repeat(400))
    expect((await asAdmin('GET', '/storage')).json.data.items[0]).toMatchObject({
      projects: 400,
      history: 5300,
    })
    expect((await asAdmin('GET', '/storage?cursor=nonsense')).status).toBe(400)
    await asBob('DELETE', `/api/projects/${project}`)
  })

  test('channel messages and program seconds are counted, and refused when the limit is reached', async () => {
    await asAdmin('PATCH', `/users/${bobId}`, {
      quota: { messages_per_day: 1, program_seconds_per_day: 0 },
    })
    await asBob('POST', '/api/channels', {
      type: 'webhook',
      name: 'team',
      settings: { url: 'https://hooks.invalid/x' },
    })
    const call = { name: 'message', arguments: { content: 'Hi', to: 'channel:team' } }
    const contents: string[] = []
    for (const used of [call, call, { name: 'execute_python', arguments: { code: 'print(1)' } }]) {
      upstream.enqueue(turn.toolCalls([used]), turn.text('Done.'))
      const { message } = (await send({ approval: 'auto' })).json.data
      contents.push(
        message.process_steps.find((step: { type: string }) => step.type === 'tool_result').content,
      )
    }
    expect(contents[0]).not.toContain('used up')
    expect(contents[1]).toContain('You have used up today’s limit of channel messages (1)')
    expect(contents[2]).toContain('seconds for running programs')
    const { items } = (await asBob('GET', '/api/quota')).json.data
    expect(items).toContainEqual(expect.objectContaining({ kind: 'messages_per_day', used: 1 }))
  })
})
