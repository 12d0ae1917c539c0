// Ending accounts over real HTTP: handing their data over, keeping it, deleting it; on both databases.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, register } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

describeOnEachServer('ending an account', (start) => {
  const accounts = useTwoAccounts(start, {
    titles: 'off',
    models: [{ id: 'one', api_url: upstream.url }],
  })
  let bobId = ''
  beforeAll(async () => {
    bobId = (await asBob('GET', '/api/auth/profile')).json.data.id
  })
  const asAdmin = (method: string, path: string, body?: unknown) =>
    accounts.call(method, `/api/admin${path}`, body)
  const asBob = (method: string, path: string, body?: unknown) =>
    accounts.call(method, path, body, accounts.bob)

  test('an account can be handed over with its conversations, projects, files and memory, or kept without any way to sign in', async () => {
    const person = async (username: string) => {
      const token = await register(accounts.server, username)
      const call = (method: string, path: string, body?: unknown) =>
        accounts.server.call(method, path, { body, token })
      return { call, token, id: (await call('GET', '/api/auth/profile')).json.data.id as string }
    }
    const [zed, yan] = [await person('zed'), await person('yan')]
    for (const one of [zed, yan]) {
      const { id } = (await one.call('POST', '/api/projects', { name: 'Plans' })).json.data
      await one.call('PUT', `/api/projects/${id}/files/a.txt`, { content: one.id })
    }
    await zed.call('PUT', '/api/memory', { content: 'Likes tea.\n' })
    await yan.call('PUT', '/api/memory', { content: 'Likes coffee.\n' })
    const { id } = (await zed.call('POST', '/api/conversations', { title: 'Old talk' })).json.data
    upstream.enqueue(turn.text('Hello.'))
    const attachments = [{ kind: 'text', name: 'n.txt', content: 'notes' }]
    await zed.call('POST', `/api/conversations/${id}/messages`, {
      text: 'Go',
      stream: false,
      attachments,
    })
    const own = (await accounts.call('GET', '/api/auth/profile')).json.data.id
    for (const [heir, status] of [
      ['', 400],
      [`&heir_id=${zed.id}`, 400],
      ['&heir_id=nobody', 404],
    ] as const)
      expect((await asAdmin('DELETE', `/users/${zed.id}?data=hand_over${heir}`)).status).toBe(
        status,
      )
    const gone = await asAdmin('DELETE', `/users/${zed.id}?data=hand_over&heir_id=${yan.id}`)
    expect(gone.status).toBe(200)
    expect((await zed.call('GET', '/api/auth/profile')).status).toBe(401)

    const projects = (await yan.call('GET', '/api/projects')).json.data.items
    expect(projects.map((one: { name: string }) => one.name).sort()).toEqual([
      'Plans',
      'Plans (zed)',
    ])
    for (const { id: project, name } of projects) {
      const { data } = (await yan.call('GET', `/api/projects/${project}/files/a.txt`)).json
      expect(data.content).toBe(name === 'Plans' ? yan.id : zed.id)
      const edit = await yan.call('PUT', `/api/projects/${project}/files/a.txt`, { content: 'new' })
      expect(edit.status).toBe(200)
    }
    const messages = (await yan.call('GET', `/api/conversations/${id}/messages`)).json.data.items
    const file = messages[0].attachments[0].file_id
    const content = await fetch(`${accounts.server.url}/api/files/${file}`, {
      headers: { authorization: `Bearer ${yan.token}` },
    })
    expect(await content.text()).toBe('notes')
    upstream.enqueue(turn.text('Again.'))
    const more = { text: 'More', stream: false }
    expect((await yan.call('POST', `/api/conversations/${id}/messages`, more)).status).toBe(200)
    expect((await yan.call('GET', '/api/memory')).json.data.content).toBe(
      'Likes coffee.\n\n## Memory of zed\n\nLikes tea.\n',
    )

    const { key } = (await yan.call('POST', '/api/auth/keys', { name: 'k' })).json.data
    expect((await asAdmin('DELETE', `/users/${yan.id}?data=keep`)).status).toBe(200)
    for (const token of [key, ''])
      expect((await accounts.server.call('GET', '/api/projects', { token })).status).toBe(401)
    const [kept] = (await asAdmin('GET', '/users?q=yan')).json.data.items
    expect(kept).toMatchObject({ id: yan.id, is_active: false, email: null })
    expect((await asAdmin('DELETE', `/users/${yan.id}?data=hand_over&heir_id=${own}`)).status).toBe(
      200,
    )
    const inherited = await accounts.call('GET', '/api/projects')
    expect(inherited.json.data.items).toHaveLength(2)
    const log = (await asAdmin('GET', '/audit?action=account_deleted')).json.data.items
    expect(log.map(({ details }: { details: object }) => details)).toMatchObject([
      { account: 'yan', data: 'hand_over', heir: 'ann' },
      { account: 'yan', data: 'keep' },
      { account: 'zed', data: 'hand_over', heir: 'yan' },
    ])
  })

  test('deleting an account removes all its data and access, and nobody can delete their own account', async () => {
    const project = (await asBob('POST', '/api/projects', { name: 'Plans' })).json.data.id
    await asBob('PUT', `/api/projects/${project}/files/a.txt`, { content: 'x' })
    const folder = join(accounts.server.server.config.workspace_root, bobId)
    const before = existsSync(folder) ? readdirSync(folder) : null
    const own = (await accounts.call('GET', '/api/auth/profile')).json.data.id
    expect((await asAdmin('DELETE', `/users/${own}`)).json).toMatchObject({
      reason: 'own_account_stays',
    })
    expect((await asBob('DELETE', `/api/admin/users/${bobId}`)).status).toBe(403)
    expect((await asAdmin('DELETE', `/users/${bobId}`)).status).toBe(200)
    expect((await asAdmin('DELETE', `/users/${bobId}`)).status).toBe(404)
    expect((await asBob('GET', '/api/auth/profile')).status).toBe(401)
    expect(before?.length ?? 1).toBeGreaterThan(0)
    if (before !== null) expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
    expect((await asAdmin('GET', '/users?q=bob')).json.data.items).toEqual([])
    const again = await register(accounts.server, 'bob')
    const listed = await accounts.server.call('GET', '/api/projects', { token: again })
    expect(listed.json.data.items).toEqual([])
    const log = await asAdmin('GET', '/audit?action=account_deleted')
    expect(log.json.data.items[0].details).toMatchObject({ id: bobId, account: 'bob' })
  })
})
