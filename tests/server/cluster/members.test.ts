// Two instances with a shared project: who leaves it, or whose project goes to another account, has no access at both at once.
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { openEvents } from '../../support/server/events.ts'
import { register, TEST_JWT_SECRET, type TestServer } from '../../support/server/server.ts'
import { hasRedis } from '../../support/store/redis.ts'

/** What is promised: access and streams end within this time at all instances. */
const PROMISED = { timeout: 5_000 }

const upstream = await useUpstream()

describe.skipIf(!hasRedis)('a shared project at two instances', () => {
  const { start } = useClusters()
  let one: TestServer
  let other: TestServer
  const tokens = new Map<string, string>()
  beforeAll(async () => {
    const { instances } = await start(2, {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    const [first, second] = instances
    if (first === undefined || second === undefined) throw new Error('two were started')
    one = first
    other = second
    for (const name of ['admin', 'ann', 'bob']) tokens.set(name, await register(one, name))
  })
  const as = async (
    server: TestServer,
    name: string,
    method: string,
    path: string,
    body?: object,
  ) => await server.call(method, path, { token: tokens.get(name), ...(body && { body }) })
  /** A project of somebody, which bob may use. */
  async function shared(owner: string, name: string): Promise<string> {
    const { id } = (await as(one, owner, 'POST', '/api/projects', { name })).json.data
    const member = `/api/projects/${id}/members/user:@bob`
    expect((await as(one, owner, 'PUT', member, { role: 'use' })).status).toBe(200)
    return id
  }
  /** A run of bob in the project, which waits for the model. */
  async function talking(server: TestServer, projectId: string) {
    upstream.program(() => turn.beforeHeaders('stall'))
    const made = await as(server, 'bob', 'POST', '/api/conversations', { project_id: projectId })
    const { id } = made.json.data
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Hello', stream_mode: 'delta' },
      token: tokens.get('bob') ?? '',
    })
    await stream.next(({ event }) => event === 'run')
    return { id, stream }
  }
  const isEnded = (events: readonly { event: string }[]): boolean =>
    events.some(({ event }) => event === 'done' || event === 'error')

  test('a member whose page is open at the other is told of files that are changed through one', async () => {
    const id = await shared('ann', 'Told')
    const page = await openEvents(`${other.url}/api/events`, { token: tokens.get('bob') ?? '' })
    await page.next(({ event }) => event === 'ready')
    const file = `/api/projects/${id}/files/a.txt`
    expect((await as(one, 'ann', 'PUT', file, { content: 'a' })).status).toBe(200)
    expect((await page.next(({ event }) => event === 'file')).data).toEqual({
      id: 'a.txt',
      change: 'created',
      project_id: id,
    })
    page.leave()
  })

  test('a member who is removed through one has no access through either, and their streams at both end', async () => {
    const id = await shared('ann', 'Left')
    const talks = [await talking(one, id), await talking(other, id)]
    const pages = await Promise.all(
      [one, other].map((server) =>
        openEvents(`${server.url}/api/events`, { token: tokens.get('bob') ?? '' }),
      ),
    )
    for (const page of pages) await page.next(({ event }) => event === 'ready')
    const gone = await as(one, 'ann', 'DELETE', `/api/projects/${id}/members/user:@bob`)
    expect(gone.status).toBe(200)
    for (const { stream } of talks)
      await expect.poll(() => isEnded(stream.events), PROMISED).toBe(true)
    for (const server of [one, other])
      for (const path of [`/api/projects/${id}`, `/api/projects/${id}/files`])
        await expect
          .poll(async () => (await as(server, 'bob', 'GET', path)).status, PROMISED)
          .toBe(404)
    for (const page of pages)
      await expect
        .poll(
          () =>
            page.events.some(
              ({ event, data }) =>
                event === 'project' && data.id === id && data.change === 'deleted',
            ),
          PROMISED,
        )
        .toBe(true)
    for (const page of pages) page.leave()
    for (const talk of talks) {
      const kept = await as(other, 'bob', 'GET', `/api/conversations/${talk.id}`)
      expect(kept.json.data.project_id).toBeNull()
    }
  })

  test('when it goes to another account, runs at both end, who had it has no access, and members go on at both', async () => {
    tokens.set('eve', await register(one, 'eve'))
    const id = await shared('eve', 'Passed on')
    await as(one, 'eve', 'PUT', `/api/projects/${id}/files/a.txt`, { content: 'kept' })
    const talks = [await talking(one, id), await talking(other, id)]
    const page = await openEvents(`${other.url}/api/events`, { token: tokens.get('eve') ?? '' })
    await page.next(({ event }) => event === 'ready')
    const eve = (await as(one, 'eve', 'GET', '/api/auth/profile')).json.data.id
    const ann = (await as(one, 'ann', 'GET', '/api/auth/profile')).json.data.id
    const ended = as(
      one,
      'admin',
      'DELETE',
      `/api/admin/users/${eve}?data=hand_over&heir_id=${ann}`,
    )
    for (const { stream } of talks)
      await expect.poll(() => isEnded(stream.events), PROMISED).toBe(true)
    expect((await ended).status).toBe(200)
    // The stream of the account itself is closed.
    await page.all()
    for (const { stream } of talks)
      expect(stream.events.at(-1)).toMatchObject({
        event: 'error',
        data: { reason: 'project_handed_over_during_run' },
      })
    for (const server of [one, other]) {
      const project = `/api/projects/${id}`
      expect((await as(server, 'eve', 'GET', project)).status).toBe(401)
      await expect
        .poll(async () => (await as(server, 'ann', 'GET', project)).json.data?.role, PROMISED)
        .toBe('own')
      const file = await as(server, 'bob', 'GET', `${project}/files/a.txt`)
      expect(file.json.data.content).toBe('kept')
      const write = await as(server, 'ann', 'PUT', `${project}/files/b.txt`, { content: 'new' })
      expect(write.status).toBe(200)
    }
  })
})
