// Runs that cannot end normally: a disabled account, a store that rejects writes, too many failed starts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createStore } from '../../../../server/db/store.ts'
import { SqliteClient } from '../../../../server/lib/sqlite-driver.ts'
import { claimRun, endUnclaimed } from '../../../../server/runs/start/claim.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import {
  describeOnEachServer,
  TEST_JWT_SECRET,
  useServers,
} from '../../../support/server/server.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../../support/store/store-rows.ts'

const upstream = await useUpstream()

/** Starts a server with an administrator and a user whose conversation gets a slow answer. */
async function startWithUser(start: Parameters<Parameters<typeof describeOnEachServer>[1]>[0]) {
  const server = await start({
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    auth_mode: 'multi',
    jwt_secret: TEST_JWT_SECRET,
  })
  const register = async (username: string) =>
    (
      await server.call('POST', '/api/auth/register', {
        body: { username, password: 'a long password' },
      })
    ).json.data
  const admin = await register('admin')
  const { token, user } = await register('leaving')
  const { json } = await server.call('POST', '/api/conversations', { body: {}, token })
  upstream.program(() => turn.text('word '.repeat(2_000), { delayMs: 20 }))
  return { server, admin, token, user, messages: `/api/conversations/${json.data.id}/messages` }
}

describeOnEachServer('a disabled account', (start) => {
  test('loses its run and its open streams at once, and gets no new ones', async () => {
    const { server, admin, token, user, messages } = await startWithUser(start)
    const stream = await openEvents(server.url + messages, {
      body: { text: 'Go', on_disconnect: 'continue' },
      token,
    })
    const request = await upstream.nextRequest()
    await stream.next(({ event }) => event === 'process_step')
    const disabled = await server.call('PATCH', `/api/admin/users/${user.id}`, {
      body: { is_active: false },
      token: admin.token,
    })
    expect(disabled.json.data.is_active).toBe(false)
    expect(await request.closed).toBe('client_left')
    await stream.all()
    expect((await server.call('GET', '/api/conversations', { token })).status).toBe(401)
    await server.call('PATCH', `/api/admin/users/${user.id}`, {
      body: { is_active: true },
      token: admin.token,
    })
    const { json: signedIn } = await server.call('POST', '/api/auth/login', {
      body: { username: user.username, password: 'a long password' },
    })
    const runId = stream.events[0]?.data.run_id
    const run = await server.call('GET', `/api/runs/${runId}`, { token: signedIn.data.token })
    expect(run.json.data.status).toBe('stopped')
  })
})

describeOnEachServer('a request of a disabled account', (start) => {
  test('receives a 401 if it is in progress', async () => {
    const { server, admin, token, user, messages } = await startWithUser(start)
    const answer = server.call('POST', messages, {
      body: { text: 'Go', stream: false },
      token,
    })
    await upstream.nextRequest()
    await server.call('PATCH', `/api/admin/users/${user.id}`, {
      body: { is_active: false },
      token: admin.token,
    })
    expect(await answer).toMatchObject({ status: 401, json: { reason: 'session_ended' } })
  })
})

describeOnEachServer('a run that its provider refuses', (start) => {
  test('gives its reason with parameters in its last event and whenever it is read', async () => {
    const server = await start({
      models: [{ id: 'scripted', name: 'Scripted', api_url: upstream.url }],
      titles: 'off',
    })
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const messages = `/api/conversations/${json.data.id}/messages`
    upstream.enqueue(turn.error(403, 'not in your country'))
    const stream = await openEvents(server.url + messages, { body: { text: 'Go' } })
    await stream.all()
    const failure = {
      code: 'model_refused',
      reason: 'model_refused',
      params: { model: 'Scripted', status: 403, detail: 'not in your country' },
    }
    const [first] = stream.events
    expect(stream.events.at(-1)).toMatchObject({ event: 'error', data: failure })
    const run = await server.call('GET', `/api/runs/${first?.data.run_id}`)
    expect(run.json.data.error).toMatchObject(failure)
    const { json: page } = await server.call('GET', messages)
    expect(page.data.items.at(-1)).toMatchObject({
      error: run.json.data.error.content,
      error_code: failure.code,
      error_reason: failure.reason,
      error_params: failure.params,
    })
  })
})

describeOnEachDatabase('a run that is begun again', (open) => {
  async function waiting(status: 'running' | 'awaiting_approval') {
    const database = await open()
    const store = createStore(database)
    const user = await somebody(store)
    const conversation = await store.conversations.create(user.id, {})
    const message = await say(database, conversation.id, '', null, { role: 'assistant' })
    const run = { ...chatRun(user.id, conversation.id, message), status }
    await database.write((tx) => store.runs.insert(tx, run))
    const parts = {
      store,
      database,
      // The only setting that is read.
      settings: { titles: 'off' } as Parameters<typeof claimRun>[1]['settings'],
      instance: 'test',
      now: () => new Date(),
      announce: () => undefined,
      redact: (text: string) => text,
    }
    return { store, database, run, parts }
  }

  test('ends for the reason for which its stop was requested, the first one, when no process performs it', async () => {
    for (const [cause, reason] of [
      ['stopped', null],
      ['deleted', null],
      ['project_deleted', 'project_deleted_during_run'],
      ['project_handed_over', 'project_handed_over_during_run'],
    ] as const)
      for (const end of ['claim', 'stop']) {
        const { store, database, run, parts } = await waiting('running')
        if (end === 'claim') {
          await database.write((tx) => store.runs.requestStop(tx, run.id, cause))
          await database.write((tx) => store.runs.requestStop(tx, run.id, 'deleted'))
          expect(await claimRun(run.id, parts)).toBeNull()
        } else await endUnclaimed(run.id, cause, parts)
        expect(await store.runs.find(run.id)).toMatchObject({
          status: reason === null ? 'stopped' : 'failed',
          finishReason: reason === null ? 'stopped' : null,
          error: reason === null ? null : { reason },
        })
      }
  })

  test('is kept while it waits for approval, however often the server restarts', async () => {
    const { run, parts } = await waiting('awaiting_approval')
    for (let attempt = 0; attempt < 12; attempt += 1)
      expect(await claimRun(run.id, parts)).not.toBeNull()
  })

  test('is abandoned after eight failed attempts in a row', async () => {
    const { store, run, parts } = await waiting('running')
    for (let attempt = 0; attempt < 7; attempt += 1)
      expect(await claimRun(run.id, parts)).not.toBeNull()
    expect(await claimRun(run.id, parts)).toBeNull()
    expect(await store.runs.find(run.id)).toMatchObject({ status: 'interrupted' })
  })
})

describe('an end that the store refuses', () => {
  const { start } = useServers()
  test('fails the run with its tokens counted, and the model is not called again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-refused-'))
    const file = join(folder, 'refusing.db')
    const server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        db_sqlite_file: file,
      },
    })
    const other = new SqliteClient(file)
    other.exec(`create trigger refuse before update on runs when new.status = 'completed'
      begin select raise(abort, 'refused'); end`)
    other.close()
    upstream.enqueue(turn.text('An answer.'))
    const before = upstream.requests.length
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    expect((await stream.all()).at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'internal' },
    })
    const run = await server.call('GET', `/api/runs/${stream.events[0]?.data.run_id}`)
    expect(run.json.data).toMatchObject({ status: 'failed', usage: { prompt_tokens: 10 } })
    const stats = await server.call('GET', '/api/stats/tokens?period=daily')
    expect(stats.json.data.prompt_tokens).toBe(10)
    expect(upstream.requests.length - before).toBe(1)
    rmSync(folder, { recursive: true, force: true })
  })
})
