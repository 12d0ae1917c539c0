// Members of projects: who changes them, what their conversations and tools get, and what ends when somebody goes.
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { UpstreamRequest } from '../../../support/provider/upstream.ts'
import { type Turn, turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import {
  databaseKeys,
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'
import { simulatedClock } from '../../../support/server/simulated-clock.ts'
import { uploadFile } from '../../../support/server/uploads.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { DIALECTS } from '../../../support/store/dialects.ts'

const upstream = await useUpstream()
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** The tools that the last request offered, and its messages. */
let offered = ''
let sent = ''
/** What the model says next. */
let answer: (request: UpstreamRequest) => Turn = () => turn.text('An answer')
beforeEach(() => {
  answer = () => turn.text('An answer')
  upstream.program((request) => {
    offered = JSON.stringify(request.body.tools)
    sent = JSON.stringify(request.messages)
    return answer(request)
  })
})

describeOnEachServer('the members of a project', (start) => {
  let server: TestServer
  const tokens = new Map<string, string>()
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    for (const name of ['admin', 'ann', 'bob', 'cat'])
      tokens.set(name, await register(server, name))
  })
  const as = async (name: string, method: string, path: string, body?: unknown) =>
    await server.call(method, path, {
      token: tokens.get(name),
      ...(body === undefined ? {} : { body }),
    })
  let names = 0
  /** A project of ann with these members. */
  async function shared(members: Record<string, string> = {}): Promise<string> {
    names += 1
    const { json } = await as('ann', 'POST', '/api/projects', { name: `P ${names}` })
    const at = `/api/projects/${json.data.id}`
    for (const [who, role] of Object.entries(members))
      expect((await as('ann', 'PUT', `${at}/members/${who}`, { role })).status).toBe(200)
    return at
  }
  const idOf = (at: string) => at.split('/').at(-1)
  const listed = async (name: string, at: string) =>
    (await as(name, 'GET', `${at}/members`)).json.data.items.map(
      (one: { name: string; role: string }) => `${one.name} ${one.role}`,
    )
  async function send(name: string, at: string, text = 'Hello') {
    const made = await as(name, 'POST', '/api/conversations', { project_id: idOf(at) })
    const { id } = made.json.data
    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text, stream_mode: 'delta' },
      token: tokens.get(name) ?? '',
    })
    return { id, stream }
  }

  test('end the network of an app that somebody else has allowed, with any change in its folder, but not their own', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    const put = async (name: string, path: string, content: string) =>
      expect((await as(name, 'PUT', `${at}/files/${path}`, { content })).status).toBe(200)
    await put('ann', 'tool/a.html', '<script src="b.js"></script>')
    const open = async (name: string) =>
      (await as(name, 'POST', '/api/apps', { project_id: idOf(at), path: 'tool/a.html' })).json.data
    for (const name of ['ann', 'bob']) {
      const { id } = await open(name)
      const allowed = await as(name, 'PATCH', `/api/apps/${id}`, { network: true })
      expect(allowed.json.data).toMatchObject({ network: true })
    }
    await put('bob', 'elsewhere.txt', 'not of the app')
    expect(await open('ann')).toMatchObject({ network: true })
    await put('bob', 'tool/b.js', 'fetch("https://collect.example")')
    expect(await open('ann')).toMatchObject({ network: false })
    expect(await open('bob')).toMatchObject({ network: true })
  })

  test('are listed with who stores it first, and found by name, group or as everyone', async () => {
    const at = await shared({ 'user:@BOB': 'use' })
    const group = (await as('admin', 'POST', '/api/admin/groups', { name: 'Team' })).json.data.id
    await as('ann', 'PUT', `${at}/members/group:${group}`, { role: 'own' })
    await as('ann', 'PUT', `${at}/members/everyone`, { role: 'use' })
    expect(await listed('bob', at)).toEqual(['ann own', ' use', 'Team own', 'bob use'])
    const first = (await as('cat', 'GET', `${at}/members?limit=1`)).json.data
    const { items } = (await as('cat', 'GET', `${at}/members?limit=9&cursor=${first.next_cursor}`))
      .json.data
    expect([first.items.length, items.length]).toEqual([1, 3])
    // The highest role counts.
    const cat = (await as('cat', 'GET', '/api/auth/profile')).json.data.id
    await as('admin', 'PUT', `/api/admin/groups/${group}/members/${cat}`)
    expect((await as('cat', 'GET', at)).json.data).toMatchObject({
      role: 'own',
      owner: { name: 'ann' },
    })
    const begun = await as('cat', 'POST', '/api/conversations', { project_id: idOf(at) })
    await as('ann', 'DELETE', `${at}/members/everyone`)
    await as('admin', 'DELETE', `/api/admin/groups/${group}/members/${cat}`)
    expect((await as('cat', 'GET', at)).status).toBe(404)
    const left = await as('cat', 'GET', `/api/conversations/${begun.json.data.id}`)
    expect(left.json.data.project_id).toBeNull()
  })

  test('change only by owners, never without one, and unknown ones are refused alike', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    for (const [path, role, error] of [
      ['user:@nobody', 'use', 'not_found'],
      ['user:none', 'use', 'not_found'],
      ['somebody', 'use', 'not_found'],
      ['everyone', 'own', 'validation_failed'],
      ['user:@ann', 'use', 'last_owner'],
    ])
      expect((await as('ann', 'PUT', `${at}/members/${path}`, { role })).json).toMatchObject({
        error,
      })
    expect((await as('ann', 'DELETE', `${at}/members/user:@ann`)).status).toBe(409)
    expect((await as('bob', 'PUT', `${at}/members/user:@cat`, { role: 'use' })).status).toBe(403)
    await as('ann', 'PUT', `${at}/members/user:@bob`, { role: 'own' })
    expect((await as('bob', 'DELETE', `${at}/members/user:@ann`)).status).toBe(200)
    expect((await as('ann', 'GET', at)).status).toBe(404)
    expect(await listed('bob', at)).toEqual(['bob own'])
    // The storage is still that of ann; her files are still there.
    expect((await as('bob', 'PUT', `${at}/files/a.txt`, { content: 'x' })).status).toBe(200)
    expect((await as('bob', 'DELETE', at)).status).toBe(200)
  })

  test('talk with its instructions and files in conversations of their own, without tools that change it', async () => {
    const at = await shared({ 'user:@bob': 'use', 'user:@cat': 'edit' })
    await as('ann', 'PUT', at, { instructions: 'Answer as a pirate.' })
    await as('ann', 'PUT', `${at}/files/notes.txt`, { content: 'the secret of ann' })
    const talk = await send('bob', at)
    await talk.stream.all()
    expect(offered).toContain('"file_read"')
    expect(offered).not.toContain('"file_write"')
    expect(sent).toContain('Answer as a pirate.')
    expect(sent).toContain('notes.txt')
    expect(sent).toContain('use this project, but not change it')
    for (const who of ['ann', 'cat'])
      expect((await as(who, 'GET', `/api/conversations/${talk.id}`)).status).toBe(404)

    answer = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([
            { id: 'call_1', name: 'file_write', arguments: { path: 'b.txt', content: 'of cat' } },
          ])
        : turn.text('Done.')
    const made = await as('cat', 'POST', '/api/conversations', {
      project_id: idOf(at),
      approval: 'auto',
    })
    const stream = await openEvents(
      `${server.url}/api/conversations/${made.json.data.id}/messages`,
      { body: { text: 'Go', stream_mode: 'delta' }, token: tokens.get('cat') ?? '' },
    )
    await stream.all()
    expect(sent).not.toContain('but not change it')
    const read = await as('ann', 'GET', `${at}/files/b.txt`)
    expect(read.json.data.content).toBe('of cat')
    const [newest] = (await as('ann', 'GET', `${at}/checkpoints`)).json.data.items
    expect(newest.user.name).toBe('cat')
  })

  test('accept skills and AGENTS.md each for themselves, and again after a change by another', async () => {
    const at = await shared({ 'user:@bob': 'use' })
    const write = (text: string) => as('ann', 'PUT', `${at}/files/AGENTS.md`, { content: text })
    await write('CANARY one')
    await (await send('bob', at)).stream.all()
    expect(sent).not.toContain('CANARY')
    const [waiting] = (await as('bob', 'GET', `${at}/consent`)).json.data.items
    const accept = { what: 'agents_md', sha256: waiting.sha256, decision: 'accept' }
    expect((await as('bob', 'POST', `${at}/consent`, accept)).status).toBe(200)
    await (await send('bob', at)).stream.all()
    expect(sent).toContain('CANARY one')
    await write('CANARY two')
    await (await send('bob', at)).stream.all()
    expect(sent).not.toContain('CANARY')
    const again = (await as('bob', 'GET', `${at}/consent`)).json.data.items
    expect(again[0].diff).toContain('CANARY two')
    // Who wrote it has accepted it.
    await (await send('ann', at)).stream.all()
    expect(sent).toContain('CANARY two')
  })

  test('who go lose everything there: the run stops, the conversation stays without the project', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    answer = () => turn.beforeHeaders('stall')
    const talk = await send('bob', at)
    await talk.stream.next(({ event }) => event === 'run')
    const planned = await as('bob', 'POST', '/api/schedules', {
      ...{ name: 'Hourly', text: 'Look', when: { every: '1h' }, project_id: idOf(at) },
    })
    expect((await as('bob', 'DELETE', `${at}/members/user:@bob`)).status).toBe(200)
    await talk.stream.all()
    const kept = await as('bob', 'GET', `/api/conversations/${talk.id}`)
    expect(kept.json.data.project_id).toBeNull()
    expect((await as('bob', 'GET', at)).status).toBe(404)
    const schedule = await as('bob', 'GET', `/api/schedules/${planned.json.data.id}`)
    expect(schedule.json.data).toMatchObject({ enabled: false, disabled_reason: 'owner' })
    const found = (await as('bob', 'GET', '/api/projects')).json.data.items
    expect(found.map(({ id }: { id: string }) => id)).not.toContain(idOf(at))
  })

  test('who go end there also where the conversation is elsewhere, and continue nothing there', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    answer = () => turn.beforeHeaders('stall')
    const talk = await send('bob', at)
    const { data: run } = await talk.stream.next(({ event }) => event === 'run')
    await as('bob', 'PATCH', `/api/conversations/${talk.id}`, { project_id: null })
    expect((await as('ann', 'DELETE', `${at}/members/user:@bob`)).status).toBe(200)
    await talk.stream.all()
    const before = upstream.requests.length
    expect((await as('bob', 'POST', `/api/runs/${run.run_id}/resume`)).status).toBe(404)
    expect(upstream.requests).toHaveLength(before)
    // A member again, they go on where they were.
    await as('ann', 'PUT', `${at}/members/user:@bob`, { role: 'use' })
    answer = () => turn.text('Here again')
    expect((await as('bob', 'POST', `/api/runs/${run.run_id}/resume`)).status).toBe(200)
  })

  test('cannot be joined by a program that names the project in an earlier conversation of its own', async () => {
    const at = await shared()
    const ask = (body: object) =>
      as('bob', 'POST', '/v1/responses', { model: 'scripted', input: 'Hello', ...body })
    const first = await ask({})
    expect(first.status).toBe(200)
    const { id } = first.json as unknown as { id: string } // the format of OpenAI
    const foreign = await ask({ previous_response_id: id, nanoclaw: { project_id: idOf(at) } })
    expect(foreign.json).toMatchObject({ error: { message: 'Project not found.' } })
    expect(foreign.status).toBe(404)
    await as('ann', 'PUT', `${at}/members/user:@bob`, { role: 'use' })
    const own = await ask({ previous_response_id: id, nanoclaw: { project_id: idOf(at) } })
    expect(own.status).toBe(200)
  })

  test('rename it without learning the names of other projects of who stores it', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    const rename = async (who: string, name: string) => (await as(who, 'PUT', at, { name })).json
    names += 1
    const secret = `Secret ${names}`
    await as('ann', 'POST', '/api/projects', { name: secret })
    expect(await rename('ann', secret)).toMatchObject({ reason: 'project_name_taken' })
    expect(await rename('bob', secret)).toMatchObject({ code: 0, data: { name: secret } })
    // What both can see is no secret.
    const other = await shared({ 'user:@bob': 'use' })
    const { name } = (await as('bob', 'GET', other)).json.data
    expect(await rename('bob', name)).toMatchObject({ reason: 'project_name_taken' })
  })

  test('see its image, whoever has uploaded it, and only as long as it is the image', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    const icon = (
      await uploadFile(server.url, 'icon.png', PIXEL, { token: tokens.get('bob') ?? '' })
    ).json.data.id
    await as('bob', 'PUT', at, { icon })
    const statuses = async () => {
      const found: number[] = []
      for (const name of ['ann', 'bob', 'cat'])
        for (const query of ['', '?thumb=1']) {
          const headers = { authorization: `Bearer ${tokens.get(name)}` }
          found.push((await fetch(`${server.url}/api/files/${icon}${query}`, { headers })).status)
        }
      return found
    }
    expect(await statuses()).toEqual([200, 200, 200, 200, 404, 404])
    expect((await as('ann', 'GET', `/api/files/${icon}/text`)).status).toBe(404)
    expect((await as('ann', 'DELETE', `/api/files/${icon}`)).status).toBe(404)
    await as('ann', 'PUT', at, { icon: '🐦' })
    expect(await statuses()).toEqual([404, 404, 200, 200, 404, 404])
  })

  test('whose role has become lower start no schedule in it, but switch theirs off or take them elsewhere', async () => {
    const at = await shared({ 'user:@bob': 'edit' })
    const body = { name: 'Hourly', text: 'Look', when: { every: '1h' }, project_id: idOf(at) }
    const { id } = (await as('bob', 'POST', '/api/schedules', body)).json.data
    const change = (changes: object) => as('bob', 'PATCH', `/api/schedules/${id}`, changes)
    await as('ann', 'PUT', `${at}/members/user:@bob`, { role: 'use' })
    expect((await change({ text: 'Look closely' })).status).toBe(200)
    for (const answer of [
      await change({ enabled: true }),
      await as('bob', 'POST', `/api/schedules/${id}/run`),
    ])
      expect(answer).toMatchObject({ status: 403, json: { error: 'read_only_project' } })
    expect((await change({ enabled: false })).status).toBe(200)
    expect((await change({ enabled: true, project_id: null })).status).toBe(200)
    expect((await as('bob', 'POST', `/api/schedules/${id}/run`)).status).toBe(202)
    await as('bob', 'DELETE', `/api/schedules/${id}`)
  })

  test('share at most as many projects as the quota says, and not at all without the feature', async () => {
    const ann = (await as('ann', 'GET', '/api/auth/profile')).json.data.id
    const [first, second] = [await shared(), await shared()]
    await as('admin', 'PATCH', `/api/admin/users/${ann}`, { quota: { projects_shared: 100 } })
    const { used } = (await as('ann', 'GET', '/api/quota')).json.data.items.find(
      ({ kind }: { kind: string }) => kind === 'projects_shared',
    )
    await as('admin', 'PATCH', `/api/admin/users/${ann}`, {
      quota: { projects_shared: used + 1 },
    })
    const add = (at: string) => as('ann', 'PUT', `${at}/members/user:@cat`, { role: 'use' })
    expect((await add(first)).status).toBe(200)
    expect(await add(second)).toMatchObject({ status: 403, json: { error: 'quota_exceeded' } })
    await as('admin', 'PATCH', `/api/admin/users/${ann}`, { quota: { projects_shared: null } })
    const group = await as('admin', 'POST', '/api/admin/groups', { name: 'No', features: [] })
    const cat = (await as('cat', 'GET', '/api/auth/profile')).json.data.id
    await as('admin', 'PUT', `/api/admin/groups/${group.json.data.id}/members/${cat}`)
    expect((await as('cat', 'GET', `${first}/members`)).status).toBe(404)
    await as('admin', 'DELETE', `/api/admin/groups/${group.json.data.id}`)
  })

  test('who own it keep it when the account that stores it is deleted; else it goes with the account', async () => {
    tokens.set('dan', await register(server, `dan${names}`))
    const dan = (await as('dan', 'GET', '/api/auth/profile')).json.data.id
    const make = async (name: string, role: string) => {
      const { id } = (await as('dan', 'POST', '/api/projects', { name })).json.data
      await as('dan', 'PUT', `/api/projects/${id}/files/a.txt`, { content: 'kept' })
      await as('dan', 'PUT', `/api/projects/${id}/members/user:@bob`, { role })
      return `/api/projects/${id}`
    }
    const [owned, used] = [await make('Owned', 'own'), await make('Used', 'use')]
    const events = await openEvents(`${server.url}/api/events`, { token: tokens.get('bob') ?? '' })
    await events.next(({ event }) => event === 'ready')
    expect((await as('admin', 'DELETE', `/api/admin/users/${dan}`)).status).toBe(200)
    expect((await as('bob', 'GET', used)).status).toBe(404)
    expect((await as('bob', 'GET', `${owned}/files/a.txt`)).json.data.content).toBe('kept')
    expect((await as('bob', 'GET', owned)).json.data).toMatchObject({
      role: 'own',
      owner: { name: 'bob' },
    })
    for (const [at, change] of [
      [owned, 'updated'],
      [used, 'deleted'],
    ] as const)
      await events.next(
        ({ event, data }) => event === 'project' && data.id === idOf(at) && data.change === change,
      )
    events.leave()
  })

  test('whose project goes to another account meanwhile are told so, not that it was deleted, and go on with the same message', async () => {
    for (const data of ['delete', 'hand_over']) {
      const leaver = `eve${names}${data.length}`
      tokens.set(leaver, await register(server, leaver))
      const eve = (await as(leaver, 'GET', '/api/auth/profile')).json.data.id
      const { id } = (await as(leaver, 'POST', '/api/projects', { name: 'Passed on' })).json.data
      const at = `/api/projects/${id}`
      await as(leaver, 'PUT', `${at}/members/user:@ann`, { role: 'own' })
      await as(leaver, 'PUT', `${at}/members/user:@bob`, { role: 'use' })
      answer = () => turn.beforeHeaders('stall')
      const talk = await send('bob', at)
      await talk.stream.next(({ event }) => event === 'run')
      const heir = (await as('ann', 'GET', '/api/auth/profile')).json.data.id
      const query = data === 'delete' ? '' : `?data=hand_over&heir_id=${heir}`
      expect((await as('admin', 'DELETE', `/api/admin/users/${eve}${query}`)).status).toBe(200)
      const { data: end } = await talk.stream.next(({ event }) => event === 'error')
      expect(end).toMatchObject({ reason: 'project_handed_over_during_run' })
      expect((await as('bob', 'GET', `/api/conversations/${talk.id}`)).json.data.project_id).toBe(
        id,
      )
      answer = () => turn.text('Done.')
      const again = await openEvents(`${server.url}/api/conversations/${talk.id}/messages`, {
        body: { text: 'Again', stream_mode: 'delta' },
        token: tokens.get('bob') ?? '',
      })
      expect((await again.all()).at(-1)).toMatchObject({ event: 'done' })
    }
  })
})

describe.each(DIALECTS)('after a restart (%s)', (dialect) => {
  const { start } = useServers()
  const databases = useDatabases()

  test('a run of somebody who is no member of its project any more ends, and asks the model nothing', async () => {
    const settings = await databases.migrated(dialect)
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-members-'))
    const open = () =>
      start({
        folder,
        config: {
          ...databaseKeys(settings),
          auth_mode: 'multi',
          jwt_secret: TEST_JWT_SECRET,
          models: [{ id: 'scripted', api_url: upstream.url }],
          titles: 'off',
        },
      })
    const first = await open()
    const [ann, bob] = [await register(first, 'ann'), await register(first, 'bob')]
    const made = await first.call('POST', '/api/projects', { token: ann, body: { name: 'P' } })
    const project = made.json.data.id
    await first.call('PUT', `/api/projects/${project}/members/user:@bob`, {
      token: ann,
      body: { role: 'edit' },
    })
    const { json } = await first.call('POST', '/api/conversations', {
      token: bob,
      body: { project_id: project },
    })
    answer = () => turn.beforeHeaders('stall')
    const stream = await openEvents(`${first.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Hello', stream_mode: 'delta' },
      token: bob,
    })
    const { data: run } = await stream.next(({ event }) => event === 'run')
    await expect.poll(() => upstream.requests.length).toBeGreaterThan(0)
    await first.close()
    const before = upstream.requests.length
    const database = await databases.connect(settings)
    await database.write(async (tx) => void (await tx.delete(database.tables.projectMembers)))
    await database.close()
    const second = await open()
    await expect
      .poll(async () => {
        const found = await second.call('GET', `/api/runs/${run.run_id}`, { token: bob })
        return found.json.data.status
      })
      .toBe('stopped')
    expect(upstream.requests).toHaveLength(before)
  })

  test('the clock looks at nothing for a schedule whose person may no longer change the project', async () => {
    const settings = await databases.migrated(dialect)
    const looked: string[] = []
    const site = createServer((request, response) => {
      looked.push(request.url ?? '')
      response.end('<p>Something</p>')
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void site.close())
    const address = site.address()
    const port = typeof address === 'object' ? address?.port : ''
    // Sessions are judged by the clock of the machine, too.
    const begun = Date.now()
    const clock = simulatedClock(new Date(begun).toISOString())
    const after = (seconds: number) => new Date(begun + seconds * 1_000).toISOString()
    const server = await start({
      clock,
      config: {
        ...databaseKeys(settings),
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        network: { allow_private: ['127.0.0.0/8'] },
      },
    })
    const [ann, bob] = [await register(server, 'ann'), await register(server, 'bob')]
    const made = await server.call('POST', '/api/projects', { token: ann, body: { name: 'P' } })
    const project = made.json.data.id
    await server.call('PUT', `/api/projects/${project}/members/user:@bob`, {
      token: ann,
      body: { role: 'edit' },
    })
    const planned = await server.call('POST', '/api/schedules', {
      token: bob,
      body: {
        ...{ name: 'Often', text: 'Look', when: { every: '15m' }, project_id: project },
        watch: { page: `http://127.0.0.1:${port}/page` },
      },
    })
    const { id } = planned.json.data
    // By another way than the acts on members, which switch the schedule off themselves.
    const database = await databases.connect(settings)
    await database.write(
      async (tx) => void (await tx.update(database.tables.projectMembers).set({ role: 'use' })),
    )
    await database.close()
    await clock.passTo(after(15 * 60 + 2))
    await expect
      .poll(async () => {
        const { json } = await server.call('GET', `/api/schedules/${id}`, { token: bob })
        return [json.data.enabled, json.data.disabled_reason]
      })
      .toEqual([false, 'owner'])
    expect(looked).toEqual([])
  })
})

describe('without accounts', () => {
  const { start } = useServers()
  test('a project has no members', async () => {
    const server = await start()
    const { id } = (await server.call('POST', '/api/projects', { body: { name: 'P' } })).json.data
    const answer = await server.call('GET', `/api/projects/${id}/members`)
    expect(answer).toMatchObject({ status: 404, json: { reason: 'members_off' } })
  })
})
