// Every list is paged by the same rules: an invalid limit or cursor is refused.
import { expect, test } from 'vitest'
import { describeOnEachServer } from '../../../support/server/server.ts'

describeOnEachServer('lists', (start) => {
  test('return 400 for a bad limit or a bad cursor in every route that has them', async () => {
    const { url, call } = await start()
    const document = await (await fetch(`${url}/openapi.json`)).json()
    interface Operation {
      parameters?: { name: string; in: string; required?: boolean }[]
    }
    /** Path → its required query parameters, as the start of a query string. */
    const required = new Map<string, string>()
    for (const [path, { get }] of Object.entries<{ get?: Operation }>(Object(document).paths)) {
      const parameters = get?.parameters?.filter((parameter) => parameter.in === 'query') ?? []
      if (parameters.some(({ name }) => name === 'cursor'))
        required.set(path, parameters.map((one) => (one.required ? `${one.name}=x&` : '')).join(''))
    }
    // Members need accounts: their tests page them.
    const lists = [...required.keys()].filter((path) => path !== '/api/projects/{id}/members')
    // Discovered from the OpenAPI document, so that new lists are covered; at least these must be found.
    expect(lists).toEqual(
      expect.arrayContaining([
        '/api/conversations',
        '/api/conversations/{id}/messages',
        '/api/projects',
        '/api/projects/{id}/checkpoints',
        '/api/projects/{id}/checkpoints/{cid}/files',
        '/api/projects/{id}/documents',
        '/api/admin/users',
        '/api/search',
        '/api/shares',
      ]),
    )
    const conversation = (await call('POST', '/api/conversations', { body: {} })).json.data.id
    const project = (await call('POST', '/api/projects', { body: { name: 'Paged' } })).json.data.id
    await call('PUT', `/api/projects/${project}/files/a.txt`, { body: { content: 'a' } })
    const { json } = await call('GET', `/api/projects/${project}/checkpoints`)
    const checkpoint = json.data.items[0].id
    const group = (await call('POST', '/api/admin/groups', { body: { name: 'Paged' } })).json.data
      .id
    const when = { every: '1d' }
    const schedule = (
      await call('POST', '/api/schedules', { body: { name: 'Paged', text: 'Look.', when } })
    ).json.data.id
    const receiving = {
      type: 'bridge',
      name: 'paged',
      settings: { url: 'https://bridge.example.org' },
      receive: {},
    }
    const channel = (await call('POST', '/api/channels', { body: receiving })).json.data.id
    const idIn = (list: string): string =>
      list.startsWith('/api/projects')
        ? project
        : list.startsWith('/api/admin/groups')
          ? group
          : list.startsWith('/api/schedules')
            ? schedule
            : list.startsWith('/api/channels')
              ? channel
              : conversation
    for (const list of lists) {
      const path = list.replace('{cid}', checkpoint).replace('{id}', idIn(list))
      const target = `${path}?${required.get(list)}`
      expect((await call('GET', `${target}limit=1`)).status, path).toBe(200)
      for (const query of [
        ...['limit=0', 'limit=-1', 'limit=101', 'limit=1.5', 'limit=x', 'limit=1e308', 'limit='],
        ...['limit=1&limit=2', 'cursor=', 'cursor=x', 'cursor=%00', 'cursor=a&cursor=b'],
        ...['cursor=%F0%9F%92%A9', 'cursor=-1', `cursor=${'x'.repeat(600)}`],
        `cursor=${Buffer.from('["2026-02-30","x"]').toString('base64url')}`,
        `cursor=${Buffer.from('[{},null]').toString('base64url')}`,
      ]) {
        const response = await call('GET', target + query)
        expect([path, query.slice(0, 40), response.status]).toEqual([path, query.slice(0, 40), 400])
        expect(response.json.code).toBe(400)
      }
    }
  })
})
