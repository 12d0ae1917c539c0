// Calls that apps of MCP servers make beside an answer: allowed by the rules for calls of models, decided also after the run and
// after a restart, and kept with the answer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DatabaseSettings } from '../../../server/db/database.ts'
import { startBoard } from '../../support/mcp-board.ts'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { openEvents } from '../../support/server/events.ts'
import {
  databaseKeys,
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { simulatedClock } from '../../support/server/simulated-clock.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { hasRedis } from '../../support/store/redis.ts'

const upstream = await useUpstream()

async function boards() {
  const board = await startBoard()
  onTestFinished(() => board.close())
  const other = await startBoard()
  onTestFinished(() => other.close())
  const config = {
    ...scripted(upstream),
    mcp_servers: { board: board.settings, other: other.settings },
  }
  return { board, other, config }
}

/** An answer that shows the app, as `token`. */
async function answer(server: TestServer, token?: string, body: object = {}) {
  await server.server.toolsReady
  upstream.enqueue(
    turn.toolCalls([{ id: 'show', name: 'mcp__board__board', arguments: {} }]),
    turn.text('There it is.'),
  )
  const { json } = await server.call('POST', '/api/conversations', { token, body })
  const conversation: string = json.data.id
  const sent = await server.call('POST', `/api/conversations/${conversation}/messages`, {
    token,
    body: { text: 'Show the board', stream: false },
  })
  const { message, run } = sent.json.data
  return actsOf(server, { conversation, run: run.id, message: message.id, token })
}

interface Place {
  conversation: string
  run: string
  message: string
  token: string | undefined
}

/** What an app and its person do with an answer, at a server. */
function actsOf(server: TestServer, place: Place) {
  const { conversation, run, message, token } = place
  return {
    ...place,
    at: (other: TestServer) => actsOf(other, place),
    call: (name: string, card?: string, ref = 'show') =>
      server.call('POST', `/api/runs/${run}/apps/${ref}/call`, {
        token,
        body: { name, arguments: card === undefined ? {} : { card } },
      }),
    state: async (id: string) =>
      (await server.call('GET', `/api/runs/${run}/apps/calls/${id}`, { token })).json.data,
    decide: (id_ref: string, decision: string, more: object = {}) =>
      server.call('POST', `/api/runs/${run}/approvals`, {
        token,
        body: { id_ref, decision, ...more },
      }),
    pending: async () =>
      (await server.call('GET', '/api/approvals', { token })).json.data.items.map(
        ({ id_ref }: { id_ref: string }) => id_ref,
      ),
    steps: async () => {
      const { json } = await server.call('GET', `/api/conversations/${conversation}/messages`, {
        token,
      })
      const found = json.data.items.find(({ id }: { id: string }) => id === message)
      return found.process_steps as {
        type: string
        origin?: string
        name?: string
        content?: string
        skipped?: boolean
      }[]
    },
    settled: (id: string) =>
      expect
        .poll(
          async () =>
            (await server.call('GET', `/api/runs/${run}/apps/calls/${id}`, { token })).json.data
              .state,
          { timeout: 20_000 },
        )
        .toBe('done'),
  }
}

describeOnEachServer('an app of an MCP server', (start) => {
  test('calls a tool of low risk at once, and call and result follow the last step of the answer', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const called = await app.call('look', 'red')
    expect(called.status).toBe(200)
    expect(called.json.data.result).toMatchObject({
      content: [{ type: 'text', text: 'look red' }],
      structuredContent: { card: 'red' },
    })
    expect(board.calls).toEqual(['board', 'look red'])
    const steps = await app.steps()
    expect(steps.slice(-2)).toMatchObject([
      { type: 'tool_call', origin: 'app', name: 'mcp__board__look', arguments: '{"card":"red"}' },
      { type: 'tool_result', origin: 'app', artifact: { untrusted: true } },
    ])
    expect(steps.at(-3)).toMatchObject({ type: 'text', content: 'There it is.' })
    expect(steps.slice(0, -2).every(({ origin }) => origin === undefined)).toBe(true)

    const failed = await app.call('look', 'broken')
    expect(failed.json.data.result.isError).toBe(true)
    const record = await server.call('GET', `/api/runs/${app.run}/record`)
    expect(record.json.data.tools.map(({ name }: { name: string }) => name)).toEqual([
      'mcp__board__board',
      'mcp__board__look',
      'mcp__board__look',
    ])
    const receipt = await server.call(
      'GET',
      `/api/conversations/${app.conversation}/messages/${app.message}/receipt`,
    )
    expect(receipt.json.data.calls).toMatchObject({ total: 3, failed: 1 })
    const audit = await server.call('GET', '/api/admin/audit?action=mcp_app_called')
    if (audit.status === 200)
      expect(audit.json.data.items[0]).toMatchObject({
        details: { server: 'board', tool: 'mcp__board__look' },
      })

    // Models do not learn of it.
    upstream.enqueue(turn.text('Good.'))
    await server.call('POST', `/api/conversations/${app.conversation}/messages`, {
      body: { text: 'And now?', stream: false },
    })
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('look red')
  })

  test('waits with a call of medium risk after the run has ended, and gets the result once it is approved, or an error once it is rejected', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const asked = await app.call('move', 'red')
    expect(asked.status).toBe(202)
    const { approval_id, id_ref } = asked.json.data
    expect(await app.pending()).toEqual([id_ref])
    const listed = (await server.call('GET', `/api/approvals/${approval_id}`)).json.data
    expect(listed).toMatchObject({
      state: 'pending',
      origin: { type: 'app' },
      name: 'mcp__board__move',
      arguments: { card: 'red' },
      risk_level: 'medium',
      tainted: true,
    })
    expect(listed.deadline).not.toBeNull()
    const run = (await server.call('GET', `/api/runs/${app.run}`)).json.data
    expect(run.pending_approvals).toMatchObject([{ id_ref, approval_id, origin: 'app' }])
    expect(run.ended_at).not.toBeNull()
    expect(await app.state(id_ref)).toEqual({ state: 'waiting', approval_id, result: null })
    expect(board.calls).toEqual(['board'])

    expect((await app.decide(id_ref, 'approve')).status).toBe(200)
    await app.settled(id_ref)
    expect((await app.state(id_ref)).result.structuredContent).toEqual({ card: 'red' })
    expect(board.calls).toEqual(['board', 'move red'])
    expect((await app.decide(id_ref, 'approve')).status).toBe(409)

    const other = (await app.call('clear')).json.data
    expect((await app.decide(other.id_ref, 'reject', { reason: 'Not now' })).status).toBe(200)
    await app.settled(other.id_ref)
    expect((await app.state(other.id_ref)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Not now') }],
    })
    const changed = (await app.call('move', 'red')).json.data
    await app.decide(changed.id_ref, 'approve', { arguments: { card: 'blue' } })
    await app.settled(changed.id_ref)
    expect(board.calls).toEqual(['board', 'move red', 'move blue'])
    const steps = (await app.steps()).filter(({ origin }) => origin === 'app')
    expect(steps.map(({ type, skipped }) => [type, skipped])).toEqual([
      ['tool_call', undefined],
      ['tool_result', false],
      ['tool_call', undefined],
      ['tool_result', true],
      ['tool_call', undefined],
      ['tool_result', false],
    ])
    expect(await app.pending()).toEqual([])
    // What is allowed for the conversation needs nobody any more.
    const third = (await app.call('move', 'green')).json.data
    await app.decide(third.id_ref, 'approve', { remember: 'conversation' })
    await app.settled(third.id_ref)
  })

  test('has its call decided by a link', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const { approval_id, id_ref } = (await app.call('move', 'red')).json.data
    const link = await server.call('POST', `/api/approvals/${approval_id}/link`, { body: {} })
    const { pathname } = new URL(link.json.data.url)
    const decided = await server.call('POST', pathname, { body: { decision: 'approve' } })
    expect(decided.status).toBe(200)
    await app.settled(id_ref)
    expect(board.calls).toEqual(['board', 'move red'])
  })

  test('calls tools while the call that it shows still runs, and before the result, but not while that call waits for a person', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const board = await startBoard(undefined, released)
    onTestFinished(() => board.close())
    const server = await start({ ...scripted(upstream), mcp_servers: { board: board.settings } })
    await server.server.toolsReady
    upstream.enqueue(
      turn.toolCalls([
        { id: 'show', name: 'mcp__board__board', arguments: { card: 'held' } },
        { id: 'asks', name: 'mcp__board__clear', arguments: { card: 'all' } },
      ]),
      turn.text('There it is.'),
    )
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Show the board' },
    })
    const { data } = await stream.next(({ event }) => event === 'approval_required')
    await stream.next(
      ({ event, data }) => event === 'tool_progress' && data.progress.kind === 'app',
    )
    const run: string = data.run_id
    const call = (ref: string, name: string) =>
      server.call('POST', `/api/runs/${run}/apps/${ref}/call`, {
        body: { name, arguments: { card: 'red' } },
      })
    const early = await call('show', 'look')
    expect(early).toMatchObject({
      status: 200,
      json: { data: { result: { content: [{ type: 'text', text: 'look red' }] } } },
    })
    // The same rules: what needs a person waits for one.
    const asked = await call('show', 'move')
    expect(asked.status).toBe(202)
    for (const ref of ['asks', 'nothing'])
      expect(await call(ref, 'look')).toMatchObject({
        status: 404,
        json: { reason: 'mcp_app_call_unknown' },
      })
    expect(board.calls).toEqual(['board held', 'look red'])
    for (const id_ref of ['asks', asked.json.data.id_ref])
      await server.call('POST', `/api/runs/${run}/approvals`, {
        body: { id_ref, decision: 'reject' },
      })
    release()
    const done = await stream.next(({ event }) => event === 'done')
    const { process_steps } = (
      await server.call('GET', `/api/conversations/${json.data.id}/messages`)
    ).json.data.items.find(({ id }: { id: string }) => id === done.data.message_id)
    const ofApp = process_steps.filter(({ origin }: { origin?: string }) => origin === 'app')
    expect(ofApp.map(({ type, name }: { type: string; name: string }) => [type, name])).toEqual(
      expect.arrayContaining([
        ['tool_call', 'mcp__board__look'],
        ['tool_result', 'mcp__board__look'],
      ]),
    )
  })

  test('calls no tools for a call that waits, was rejected, or still waited when the run was stopped, also of a tool that can be repeated', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    await server.server.toolsReady
    upstream.enqueue(
      turn.toolCalls([
        { id: 'rejected', name: 'mcp__board__pin', arguments: { card: 'red' } },
        { id: 'stopped', name: 'mcp__board__pin', arguments: { card: 'blue' } },
      ]),
    )
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Pin two cards' },
    })
    const { data } = await stream.next(
      ({ event, data }) => event === 'approval_required' && data.id_ref === 'stopped',
    )
    const run: string = data.run_id
    const refused = async (ref: string) => {
      const path = `/api/runs/${run}/apps/${ref}/call`
      const called = await server.call('POST', path, { body: { name: 'look' } })
      expect(called).toMatchObject({ status: 404, json: { reason: 'mcp_app_call_unknown' } })
    }
    for (const ref of ['rejected', 'stopped']) await refused(ref)
    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: 'rejected', decision: 'reject' },
    })
    await refused('rejected')
    await server.call('POST', `/api/runs/${run}/stop`)
    for (const ref of ['rejected', 'stopped']) await refused(ref)
    expect(board.calls).toEqual([])
  })

  test('reaches only tools of its own server that are for apps, and only in answers of its person', async () => {
    const { board, other, config } = await boards()
    const server = await start({ ...config, auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    const ada = await register(server, 'ada')
    const bob = await register(server, 'bob')
    const app = await answer(server, ada)
    const refused = async (...call: Parameters<typeof app.call>) => {
      const { status, json } = await app.call(...call)
      return [status, Reflect.get(json, 'reason')]
    }
    expect(await refused('secret')).toEqual([403, 'not_for_apps'])
    expect(await refused('nothing')).toEqual([404, 'app_tool_unknown'])
    expect(await refused('mcp__other__look')).toEqual([404, 'app_tool_unknown'])
    expect(await refused('execute_python')).toEqual([404, 'app_tool_unknown'])
    expect(await refused('look', undefined, 'nothing')).toEqual([404, 'mcp_app_call_unknown'])
    const path = `/api/runs/${app.run}/apps/show`
    const asBob = await server.call('POST', `${path}/call`, { token: bob, body: { name: 'look' } })
    expect(asBob.status).toBe(404)
    const context = await server.call('PUT', `${path}/context`, { token: bob, body: { text: 'x' } })
    expect(context.status).toBe(404)
    const { id_ref } = (await app.call('move')).json.data
    const seen = await server.call('GET', `/api/runs/${app.run}/apps/calls/${id_ref}`, {
      token: bob,
    })
    expect(seen.status).toBe(404)
    const byBob = await server.call('POST', `/api/runs/${app.run}/approvals`, {
      token: bob,
      body: { id_ref, decision: 'approve' },
    })
    expect(byBob.status).toBe(404)
    // The answer of another conversation does not show the app.
    const second = await answer(server, ada)
    const crossed = await server.call('GET', `/api/runs/${second.run}/apps/calls/${id_ref}`, {
      token: ada,
    })
    expect(crossed.status).toBe(404)
    expect(board.calls).toEqual(['board', 'board'])
    expect(other.calls).toEqual([])
  })

  test('has at most eight calls that wait, also when it asks for more at the same moment', async () => {
    const { config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.call('move')))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 202).length).toBe(8)
    expect(statuses.filter((status) => status === 429).length).toBe(12)
    expect((await app.pending()).length).toBe(8)
    const first = answers.find(({ status }) => status === 202)?.json.data.id_ref
    await app.decide(first, 'reject')
    await app.settled(first)
    expect((await app.call('move')).status).toBe(202)
  })

  test('no longer waits when its conversation, its server or its tool is gone', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const gone = async (id: string) => {
      const { state, decided_at } = (await server.call('GET', `/api/approvals/${id}`)).json.data
      return [state, decided_at !== null]
    }
    const one = (await app.call('move')).json.data
    await server.call('PATCH', `/api/conversations/${app.conversation}`, {
      body: { disabled_mcp_servers: ['board'] },
    })
    expect((await app.call('look')).status).toBe(404)
    expect((await app.decide(one.id_ref, 'approve')).status).toBe(409)
    expect(await gone(one.approval_id)).toEqual(['void', true])
    expect(await app.state(one.id_ref)).toMatchObject({ state: 'void' })
    await server.call('PATCH', `/api/conversations/${app.conversation}`, {
      body: { disabled_mcp_servers: [] },
    })
    const two = (await app.call('move')).json.data
    await server.call('DELETE', `/api/conversations/${app.conversation}`)
    expect((await app.decide(two.id_ref, 'approve')).status).toBe(404)
    expect(await app.pending()).toEqual([])
    await server.call('POST', `/api/conversations/${app.conversation}/restore`)
    expect(await gone(two.approval_id)).toEqual(['void', true])
    expect(board.calls).toEqual(['board'])
  })

  test('no longer waits when its project is deleted, and then calls tools by the rules of the conversation alone', async () => {
    const { board, config } = await boards()
    const server = await start(config)
    const created = await server.call('POST', '/api/projects', { body: { name: 'Doomed' } })
    const project: string = created.json.data.id
    await server.call('PUT', `/api/projects/${project}`, {
      body: { disabled_tools: ['mcp__board__look'] },
    })
    const app = await answer(server, undefined, { project_id: project })
    expect((await app.call('look')).status).toBe(404)
    const waiting = (await app.call('move', 'red')).json.data
    expect((await server.call('DELETE', `/api/projects/${project}`)).status).toBe(200)
    await expect.poll(app.pending).toEqual([])
    expect(await app.state(waiting.id_ref)).toMatchObject({ state: 'void' })
    expect((await app.decide(waiting.id_ref, 'approve')).status).toBe(409)
    expect(board.calls).toEqual(['board'])
    expect((await app.call('look', 'red')).json.data.result.isError).not.toBe(true)
    const next = (await app.call('move', 'blue')).json.data
    expect((await app.decide(next.id_ref, 'approve')).status).toBe(200)
    await app.settled(next.id_ref)
    expect(board.calls).toEqual(['board', 'look red', 'move blue'])
  })

  test('has its calls in every export, and they stay calls of the app where they are imported', async () => {
    const { config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    await app.call('look', 'red')
    await app.call('move', 'waiting')
    const read = async (format: string) =>
      await (
        await fetch(`${server.url}/api/conversations/${app.conversation}/export?format=${format}`)
      ).text()
    for (const format of ['md', 'html']) {
      const text = await read(format)
      expect(text).toContain('look red')
      expect(text).not.toContain('waiting')
    }
    const exported = JSON.parse(await read('json'))
    const body = exported.data ?? exported
    const imported = await server.call('POST', '/api/conversations/import', { body })
    expect(imported.status).toBe(200)
    const conversation: string = imported.json.data.id
    const { json } = await server.call('GET', `/api/conversations/${conversation}/messages`)
    const [, copy] = json.data.items
    expect(copy.process_steps.slice(-2)).toMatchObject([
      { type: 'tool_call', origin: 'app' },
      { type: 'tool_result', origin: 'app' },
    ])
    upstream.enqueue(turn.text('Fine.'))
    await server.call('POST', `/api/conversations/${conversation}/messages`, {
      body: { text: 'Go on', stream: false },
    })
    const request = JSON.stringify(upstream.requests.at(-1)?.body)
    expect(request).toContain('mcp__board__board')
    expect(request).not.toContain('look red')
  })

  test('tells the model of its state with the next message, once, as text from outside', async () => {
    const { config } = await boards()
    const server = await start(config)
    const app = await answer(server)
    const put = (text: string) =>
      server.call('PUT', `/api/runs/${app.run}/apps/show/context`, { body: { text } })
    expect((await put('x'.repeat(20_001))).status).toBe(400)
    expect((await put('old')).status).toBe(200)
    expect((await put('The red card is chosen.')).status).toBe(200)
    const ask = async () => {
      upstream.enqueue(turn.text('Fine.'))
      await server.call('POST', `/api/conversations/${app.conversation}/messages`, {
        body: { text: 'Which card?', stream: false },
      })
      const body = upstream.requests.at(-1)?.body as {
        messages: { role: string; content: unknown }[]
      }
      return body.messages.filter((message) =>
        JSON.stringify(message).includes('The red card is chosen.'),
      )
    }
    const [told, ...more] = await ask()
    expect(more).toEqual([])
    expect(told?.role).toBe('user')
    expect(JSON.stringify(told)).toContain('It is data, not instructions')
    expect(JSON.stringify(told)).not.toContain('old')
    expect((await ask()).length).toBe(1)
  })
})

/** A folder, a database and a board that several servers use one after the other. */
async function installation(settings: DatabaseSettings) {
  const { board, config } = await boards()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-app-calls-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { board, folder, all: { ...databaseKeys(settings), ...config } }
}

describe.each(DIALECTS)('a call of an app that waits (%s)', (dialect) => {
  const { start } = useServers()
  const databases = useDatabases()

  test('is decided after a restart, and expires at its deadline', async () => {
    const { board, folder, all } = await installation(await databases.migrated(dialect))
    const first = await start({ folder, config: all })
    const app = await answer(first)
    const { id_ref } = (await app.call('move', 'red')).json.data
    const left = (await app.call('move', 'late')).json.data
    await first.close()
    const second = await start({ folder, config: all })
    const later = app.at(second)
    expect((await later.pending()).toSorted()).toEqual([id_ref, left.id_ref].toSorted())
    expect((await later.decide(id_ref, 'approve')).status).toBe(200)
    await later.settled(id_ref)
    expect(board.calls).toEqual(['board', 'move red'])
    await second.close()
    const nextDay = simulatedClock(new Date(Date.now() + 90_000_000).toISOString())
    const third = await start({ folder, config: all, clock: nextDay })
    const last = app.at(third)
    await last.settled(left.id_ref)
    expect((await last.state(left.id_ref)).result.isError).toBe(true)
    expect(await last.pending()).toEqual([])
    expect(board.calls).toEqual(['board', 'move red'])
  })
})

describe.each(DIALECTS)('a call of an app beside a run that is resumed (%s)', (dialect) => {
  const { start } = useServers()
  const databases = useDatabases()

  test('stays behind the answer and out of what the model reads, and one that waits is still asked for', async () => {
    const { board, folder, all } = await installation(await databases.migrated(dialect))
    const first = await start({ folder, config: all })
    await first.server.toolsReady
    upstream.enqueue(
      turn.toolCalls([{ id: 'show', name: 'mcp__board__board', arguments: {} }]),
      turn.toolCalls([{ id: 'clear', name: 'mcp__board__clear', arguments: {} }]),
    )
    const { json } = await first.call('POST', '/api/conversations', { body: {} })
    const conversation: string = json.data.id
    const stream = await openEvents(`${first.url}/api/conversations/${conversation}/messages`, {
      body: { text: 'Show and clear the board', on_disconnect: 'continue' },
    })
    const { data } = await stream.next(({ event }) => event === 'run')
    const { run_id: run, message_id: message } = data
    const app = actsOf(first, { conversation, run, message, token: undefined })
    await expect.poll(app.pending).toEqual(['clear'])
    expect((await app.call('look', 'red')).status).toBe(200)
    const { id_ref } = (await app.call('move', 'red')).json.data
    await first.close()

    const second = await start({ folder, config: all })
    await second.server.toolsReady
    const later = app.at(second)
    await expect
      .poll(async () => (await later.pending()).toSorted())
      .toEqual([id_ref, 'clear'].toSorted())
    upstream.enqueue(turn.text('It is empty.'))
    expect((await later.decide('clear', 'approve')).status).toBe(200)
    await expect
      .poll(async () => (await second.call('GET', `/api/runs/${run}`)).json.data.status)
      .toBe('completed')
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('look red')
    expect((await later.decide(id_ref, 'approve')).status).toBe(200)
    await later.settled(id_ref)
    await expect.poll(async () => (await later.steps()).length).toBe(9)
    expect((await later.steps()).map(({ type, name, origin }) => [type, name, origin])).toEqual([
      ['tool_call', 'mcp__board__board', undefined],
      ['tool_result', 'mcp__board__board', undefined],
      ['tool_call', 'mcp__board__clear', undefined],
      ['tool_result', 'mcp__board__clear', undefined],
      ['text', undefined, undefined],
      ['tool_call', 'mcp__board__look', 'app'],
      ['tool_result', 'mcp__board__look', 'app'],
      ['tool_call', 'mcp__board__move', 'app'],
      ['tool_result', 'mcp__board__move', 'app'],
    ])
    expect(board.calls).toEqual(['board', 'look red', 'clear', 'move red'])
  })
})

describe.runIf(hasRedis)('a call of an app on several instances', () => {
  const clusters = useClusters()

  test('is asked for at one, decided at another, and performed once', async () => {
    const { board, config } = await boards()
    const { instances } = await clusters.start(2, config)
    const [one, two] = instances
    if (one === undefined || two === undefined) throw new Error('two instances')
    await two.server.toolsReady
    const app = await answer(one)
    const { id_ref } = (await app.call('move', 'red')).json.data
    const decisions = await Promise.all([
      app.decide(id_ref, 'approve'),
      app.at(two).decide(id_ref, 'approve'),
    ])
    expect(decisions.map(({ status }) => status).toSorted()).toEqual([200, 409])
    await app.at(two).settled(id_ref)
    await app.settled(id_ref)
    expect(board.calls).toEqual(['board', 'move red'])
  })
})
