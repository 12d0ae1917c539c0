// Approval of risky calls: shown before they run, decided once, for exactly one call, and kept across a restart.
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { callServer } from '../../support/server/call-server.ts'
import { openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../../support/server/server-process.ts'

const upstream = await useUpstream()

const write = (path: string, id = `call_${path}`) => ({
  id,
  name: 'file_write',
  arguments: { path, content: `content of ${path}\n` },
})
const waits = ({ event }: { event: string }): boolean => event === 'approval_required'

describe('approval', () => {
  const { start } = useServers()
  let server: TestServer
  let project: string
  beforeAll(async () => {
    server = await start({
      config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
    })
    const created = await server.call('POST', '/api/projects', { body: { name: 'Approvals' } })
    project = created.json.data.id
  })

  async function send(settings: object = {}, body: object = {}) {
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project, ...settings },
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta', ...body },
    })
    const run = await stream.next(({ event }) => event === 'run')
    return { conversation: json.data.id, runId: run.data.run_id, stream }
  }
  const decide = async (runId: string, body: object) =>
    await server.call('POST', `/api/runs/${runId}/approvals`, { body })
  const fileStatus = async (path: string) =>
    (await server.call('GET', `/api/projects/${project}/files/${path}`)).status

  test('a call of medium risk waits with a preview and runs once it is approved', async () => {
    upstream.enqueue(turn.toolCalls([write('a.txt')]), turn.text('Written.'))
    const { runId, stream, conversation } = await send()
    const question = await stream.next(waits)
    expect(question.data).toMatchObject({ name: 'file_write', risk_level: 'medium' })
    expect(question.data.preview.diff).toContain('+content of a.txt')
    expect(await fileStatus('a.txt')).toBe(404)
    const waiting = await server.call('GET', `/api/runs/${runId}`)
    expect(waiting.json.data).toMatchObject({ status: 'awaiting_approval' })
    expect(waiting.json.data.pending_approvals).toHaveLength(1)
    const listed = await server.call('GET', `/api/conversations/${conversation}`)
    expect(listed.json.data).toMatchObject({ active_run_status: 'awaiting_approval' })
    expect(upstream.requests.every(({ closedAt }) => closedAt !== null)).toBe(true)

    const { status } = await decide(runId, { id_ref: question.data.id_ref, decision: 'approve' })
    expect(status).toBe(200)
    expect((await stream.all()).at(-1)?.event).toBe('done')
    expect(await fileStatus('a.txt')).toBe(200)
    const again = await decide(runId, { id_ref: question.data.id_ref, decision: 'approve' })
    expect(again.status).toBe(409)
    expect((await decide(runId, { id_ref: 'nothing', decision: 'approve' })).status).toBe(404)
  })

  test('without a stream, the response arrives as soon as a call waits, and names the call', async () => {
    upstream.enqueue(turn.toolCalls([write('unstreamed.txt')]), turn.text('Written.'))
    const created = await server.call('POST', '/api/conversations', {
      body: { project_id: project },
    })
    const path = `/api/conversations/${created.json.data.id}/messages`
    const sent = await server.call('POST', path, { body: { text: 'Go', stream: false } })
    const { run, message } = sent.json.data
    expect(run).toMatchObject({ status: 'awaiting_approval', finish_reason: null })
    expect(message).toMatchObject({ id: run.message_id, status: 'awaiting_approval' })
    const [pending] = run.pending_approvals
    expect(pending).toMatchObject({ name: 'file_write', risk_level: 'medium' })
    const events = await openEvents(`${server.url}/api/runs/${run.id}/events`)
    await decide(run.id, { id_ref: pending.id_ref, decision: 'approve' })
    expect((await events.all()).at(-1)?.event).toBe('done')
    expect(await fileStatus('unstreamed.txt')).toBe(200)
  })

  test('the model reads a rejection with its reason, and nothing is written', async () => {
    upstream.enqueue(turn.toolCalls([write('b.txt')]), turn.text('Then not.'))
    const { runId, stream } = await send()
    const question = await stream.next(waits)
    await decide(runId, { id_ref: question.data.id_ref, decision: 'reject', reason: 'wrong name' })
    const events = await stream.all()
    const result = events.find(({ data }) => data.type === 'tool_result')?.data
    expect(result).toMatchObject({ skipped: true })
    expect(result.content).toContain('wrong name')
    expect(await fileStatus('b.txt')).toBe(404)
  })

  test('changed arguments are checked, and the call runs with exactly the approved arguments', async () => {
    upstream.enqueue(turn.toolCalls([write('c.txt')]), turn.text('Done.'))
    const { runId, stream } = await send()
    const question = await stream.next(waits)
    const id_ref = question.data.id_ref
    const bad = await decide(runId, { id_ref, decision: 'approve', arguments: { path: 5 } })
    expect(bad.status).toBe(400)
    await decide(runId, {
      id_ref,
      decision: 'approve',
      arguments: JSON.stringify({ path: 'changed.txt', content: 'mine' }),
    })
    await stream.all()
    expect(await fileStatus('c.txt')).toBe(404)
    expect(await fileStatus('changed.txt')).toBe(200)
  })

  test('an approval remembered for the run covers the same tool but no other tool', async () => {
    upstream.enqueue(
      turn.toolCalls([write('d.txt')]),
      turn.toolCalls([write('e.txt')]),
      turn.toolCalls([{ id: 'call_rm', name: 'file_delete', arguments: { path: 'd.txt' } }]),
      turn.text('Done.'),
    )
    const { runId, stream } = await send()
    const first = await stream.next(waits)
    await decide(runId, { id_ref: first.data.id_ref, decision: 'approve', remember: 'run' })
    const second = await stream.next((event) => waits(event) && event.id > first.id)
    expect(second.data).toMatchObject({ name: 'file_delete', risk_level: 'high' })
    await decide(runId, { id_ref: second.data.id_ref, decision: 'approve' })
    await stream.all()
    expect(await fileStatus('d.txt')).toBe(404)
    expect(await fileStatus('e.txt')).toBe(200)
  })

  test('auto_medium requests approval only for high risk, and auto never does', async () => {
    upstream.enqueue(turn.toolCalls([write('f.txt')]), turn.text('Done.'))
    const medium = await (await send({ approval: 'auto_medium' })).stream.all()
    expect(medium.some(waits)).toBe(false)
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_delete', arguments: { path: 'f.txt' } }]),
      turn.text('Done.'),
    )
    const auto = await (await send({}, { approval: 'auto' })).stream.all()
    expect(auto.some(waits)).toBe(false)
    expect(await fileStatus('f.txt')).toBe(404)
  })

  test('a run that is stopped while it waits ends, and a later decision is refused', async () => {
    upstream.enqueue(turn.toolCalls([write('g.txt')]))
    const { runId, stream } = await send()
    const question = await stream.next(waits)
    await server.call('POST', `/api/runs/${runId}/stop`)
    expect((await stream.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    const late = await decide(runId, { id_ref: question.data.id_ref, decision: 'approve' })
    expect(late.status).toBe(409)
    expect(await fileStatus('g.txt')).toBe(404)
  })
})

describe('approval over a restart', () => {
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-approval-'))
    place = await serverPlace(folder, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      log_level: 'warn',
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = (method: string, path: string, body?: unknown) =>
    callServer(server.url, method, path, body)

  test('a run that waits for approval still waits after kill -9 and continues once it is approved', async () => {
    upstream.enqueue(turn.toolCalls([write('kept.txt')]), turn.text('Written after all.'))
    const { data: project } = await call('POST', '/api/projects', { name: 'Waits' })
    const { data: conversation } = await call('POST', '/api/conversations', {
      project_id: project.id,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${conversation.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const question = await stream.next(waits)
    await server.kill('SIGKILL')
    server = await place.start()
    const runId = question.data.run_id
    const back = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`)
    const again = await back.next(waits)
    expect(again.data).toEqual(question.data)
    await call('POST', `/api/runs/${runId}/approvals`, {
      id_ref: question.data.id_ref,
      decision: 'approve',
    })
    expect((await back.all()).at(-1)).toMatchObject({ event: 'done' })
    const { data: file } = await call('GET', `/api/projects/${project.id}/files/kept.txt`)
    expect(file.content).toBe('content of kept.txt\n')
  })

  test('a file that changed while the server was down is not overwritten, and the approval request and the model say why', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_read', arguments: { path: 'read.txt' } }]),
      turn.toolCalls([
        {
          id: 'edit_shown',
          name: 'file_edit',
          arguments: { path: 'shown.txt', old: 'one', new: 'two' },
        },
        {
          id: 'write_read',
          name: 'file_write',
          arguments: { path: 'read.txt', content: 'of the model\n' },
        },
      ]),
      turn.text('I see.'),
    )
    const { data: project } = await call('POST', '/api/projects', { name: 'Meanwhile' })
    const file = (name: string) => `/api/projects/${project.id}/files/${name}`
    for (const name of ['shown.txt', 'read.txt'])
      await call('PUT', file(name), { content: 'one\n' })
    const { data: conversation } = await call('POST', '/api/conversations', {
      project_id: project.id,
    })
    const stream = await openEvents(`${server.url}/api/conversations/${conversation.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const asked = (id: string) => (event: ReceivedEvent) => waits(event) && event.data.id_ref === id
    const question = await stream.next(asked('edit_shown'))
    expect(question.data.preview.warning).toBeUndefined()
    await stream.next(asked('write_read'))

    await server.kill('SIGKILL')
    const [userFolder = ''] = (await readdir(join(folder, 'workspaces'))).filter(
      (name) => !name.startsWith('.'),
    )
    const projectFolder = join(folder, 'workspaces', userFolder, project.id)
    for (const name of ['shown.txt', 'read.txt'])
      await writeFile(join(projectFolder, name), 'one of somebody else\n')
    server = await place.start()

    const runId = question.data.run_id
    const back = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`)
    for (const id of ['edit_shown', 'write_read']) {
      const again = await back.next(
        (event) => asked(id)(event) && event.data.preview.warning !== undefined,
      )
      expect(again.data.preview.warning).toContain('changed this file')
      await call('POST', `/api/runs/${runId}/approvals`, { id_ref: id, decision: 'approve' })
    }
    expect((await back.all()).at(-1)).toMatchObject({ event: 'done' })
    const results = back.events.filter(
      ({ data }) => data.type === 'tool_result' && data.name !== 'file_read',
    )
    expect(results).toHaveLength(2)
    for (const { data } of results)
      expect(JSON.parse(data.content)).toMatchObject({
        success: false,
        error: expect.stringContaining('has changed since it was read'),
      })
    for (const name of ['shown.txt', 'read.txt'])
      expect((await call('GET', file(name))).data.content).toBe('one of somebody else\n')
  })
})
