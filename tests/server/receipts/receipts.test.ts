// Receipts from outside: what an answer did, after files, commands, messages and sub-agents, a restart and an export.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../server/lib/ids.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer, useServers } from '../../support/server/server.ts'
import { createTeam } from '../chat/agent-team.ts'

const upstream = await useUpstream()
const { parentAsksFor, subAgents } = createTeam(upstream)
const config = {
  models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
  titles: 'off',
  tools: { exec: { enabled: true } },
  network: { allow_private: ['127.0.0.1'] },
}

const NOTHING = { files: 0, commands: 0, sent: 0, unresolved: 0 }

/** Sends a message and returns the answer with its receipt. */
async function answer(server: TestServer, conversation: string, text = 'Go') {
  const path = `/api/conversations/${conversation}/messages`
  const events = await (await openEvents(server.url + path, { body: { text } })).all()
  const done = events.at(-1)?.data
  const id: string = events.find(({ event }) => event === 'run')?.data.message_id
  const receipt = (await server.call('GET', `${path}/${id}/receipt`)).json.data
  const message = (await server.call('GET', `${path}/${id}`)).json.data
  return { id, events, done, receipt, message, path: `${path}/${id}` }
}

async function newConversation(server: TestServer, withProject = true): Promise<string> {
  const name = `p${Math.random()}`
  const project = withProject
    ? (await server.call('POST', '/api/projects', { body: { name } })).json.data.id
    : null
  const body = { approval: 'auto', project_id: project }
  return (await server.call('POST', '/api/conversations', { body })).json.data.id
}

describeOnEachServer('the receipt of an answer', (start) => {
  let server: TestServer
  const receiver = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{}'))
  })
  beforeAll(async () => {
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
    const { port } = receiver.address() as AddressInfo // never null or a path: the server listens on TCP
    server = await start(config)
    await server.server.toolsReady
    await server.call('POST', '/api/channels', {
      body: { type: 'webhook', name: 'ops', settings: { url: `http://127.0.0.1:${port}/` } },
    })
  })
  afterAll(async () => {
    receiver.closeAllConnections()
    await new Promise((done) => receiver.close(done))
  })

  test('has files net of all changes, commands with exit codes, what was sent and what nothing made good', async () => {
    const calls = [
      { name: 'write_file', arguments: { path: 'a.txt', content: 'one\ntwo\nthree\n' } },
      { name: 'file_edit', arguments: { path: './a.txt', old: 'two', new: 'deux' } },
      { name: 'file_write', arguments: { path: 'gone.txt', content: 'x\n' } },
      { name: 'file_delete', arguments: { path: 'gone.txt' } },
      { name: 'file_read', arguments: { path: 'late.txt' } },
      { name: 'file_write', arguments: { path: 'late.txt', content: 'here\n' } },
      { name: 'read_file', arguments: { path: 'late.txt' } },
      { name: 'file_read', arguments: { path: 'never.txt' } },
      { name: 'exec', arguments: { command: 'exit 3' } },
      { name: 'exec', arguments: { command: 'echo hi > made.txt' } },
      { name: 'message', arguments: { content: 'Deployed.', to: 'channel:ops' } },
      { name: 'message', arguments: { content: 'x', to: 'channel:nowhere' } },
      { name: 'save_memory', arguments: { fact: 'Tom likes tea.' } },
    ]
    upstream.enqueue(
      ...calls.map((call, index) => turn.toolCalls([{ id: `call_${index}`, ...call }])),
      turn.text('I changed nothing, sent nothing and ran nothing.'),
    )
    const { receipt, done, message } = await answer(server, await newConversation(server))
    expect(receipt).toMatchObject({
      calls: { total: calls.length, failed: 3, rejected: 0, expired: 0, parked: 0 },
      files: [
        { path: 'a.txt', change: 'added', added: 3, removed: 0 },
        { path: 'late.txt', change: 'added', added: 1, removed: 0 },
        { path: 'made.txt', change: 'added', added: 1, removed: 0 },
      ],
      commands: [
        { command: 'exit 3', exit_code: 3, id_ref: 'call_8' },
        { command: 'echo hi > made.txt', exit_code: 0, id_ref: 'call_9' },
      ],
      sent: [{ to: 'channel:ops', delivered: true }],
      remembered: ['Tom likes tea.'],
      scheduled: [],
      sources: { read: 1, cited: 0 },
      unfinished: [],
      unresolved: [
        { id_ref: 'call_7', name: 'file_read', error: expect.stringContaining('never.txt') },
        { id_ref: 'call_11', name: 'message' },
      ],
      grants_used: [],
      usage: { prompt_tokens: 10 * (calls.length + 1) },
    })
    const counts = { files: 3, commands: 2, sent: 1, unresolved: 2 }
    expect(done.receipt).toEqual(counts)
    expect(message.receipt).toEqual({ ...counts, acted: true, changed: true })
  })

  test('says that nothing was done, and an answer without tools has an empty one', async () => {
    upstream.enqueue(turn.text('I have deployed it and told everybody.'))
    const { receipt, done, message } = await answer(server, await newConversation(server, false))
    expect(done.receipt).toEqual(NOTHING)
    expect(message).not.toHaveProperty('receipt')
    expect(receipt).toMatchObject({ calls: { total: 0 }, files: [], commands: [], sent: [] })
  })

  test('counts the calls of sub-agents, also after the run has ended', async () => {
    parentAsksFor([
      { name: 'writer', instruction: 'write' },
      { name: 'loser', instruction: 'lose' },
    ])
    subAgents((request, task) =>
      request.messages.some(({ role }) => role === 'tool')
        ? turn.text('ready')
        : task === 'write'
          ? turn.toolCalls([
              { id: 'same', name: 'file_write', arguments: { path: 'n.txt', content: 'n\n' } },
            ])
          : turn.toolCalls([{ id: 'same', name: 'file_read', arguments: { path: 'none.txt' } }]),
    )
    const { receipt, done } = await answer(server, await newConversation(server))
    expect(receipt).toMatchObject({
      calls: { total: 3, failed: 1 },
      files: [{ path: 'n.txt', change: 'added', added: 1, removed: 0 }],
      unresolved: [{ id_ref: 'call_team~2.1', name: 'file_read' }],
    })
    expect(done.receipt).toEqual({ files: 1, commands: 0, sent: 0, unresolved: 1 })
  })

  test('counts what a person rejected, which is neither failed nor unresolved, and what waited when the run ended', async () => {
    const conversation = await newConversation(server)
    await server.call('PATCH', `/api/conversations/${conversation}`, { body: { approval: 'ask' } })
    upstream.enqueue(
      turn.toolCalls([
        { id: 'no', name: 'file_write', arguments: { path: 'no.txt', content: 'no' } },
        { id: 'wait', name: 'file_write', arguments: { path: 'wait.txt', content: 'w' } },
      ]),
    )
    const path = `/api/conversations/${conversation}/messages`
    const stream = await openEvents(server.url + path, { body: { text: 'Go' } })
    const { data: run } = await stream.next(({ event }) => event === 'run')
    for (const id of ['no', 'wait'])
      await stream.next(({ event, data }) => event === 'approval_required' && data.id_ref === id)
    const decision = { id_ref: 'no', decision: 'reject' }
    await server.call('POST', `/api/runs/${run.run_id}/approvals`, { body: decision })
    await server.call('POST', `/api/runs/${run.run_id}/stop`)
    await stream.all()
    const { json } = await server.call('GET', `${path}/${run.message_id}/receipt`)
    expect(json.data).toMatchObject({
      calls: { total: 2, rejected: 1, parked: 1, expired: 0 },
      files: [],
    })
  })

  test('is exported as a copy and imported as one, from a single file and within everything', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'e.txt', content: 'e\n' } }]),
      turn.text('Written.'),
    )
    const conversation = await newConversation(server)
    const { receipt, message } = await answer(server, conversation)
    const exported = await (
      await fetch(`${server.url}/api/conversations/${conversation}/export?format=json`)
    ).text()
    expect(JSON.parse(exported).messages[1].receipt).toEqual(receipt)
    const imported = await server.call('POST', '/api/conversations/import', {
      body: JSON.parse(exported),
    })
    const path = `/api/conversations/${imported.json.data.id}/messages`
    const [, copy] = (await server.call('GET', path)).json.data.items
    expect(copy.receipt).toEqual(message.receipt)
    const { json } = await server.call('GET', `${path}/${copy.id}/receipt`)
    expect(json.data).toEqual({
      ...receipt,
      files: [{ ...receipt.files[0], checkpoint_id: null }],
      imported: true,
    })
  })

  test('is in files for people, in their language, below answers that could do harm', async () => {
    upstream.enqueue(
      turn.toolCalls([
        { name: 'file_write', arguments: { path: 'a_b.txt', content: 'one\ntwo\n' } },
        { name: 'file_read', arguments: { path: '<img src=x>.txt' } },
      ]),
      turn.text('Written.'),
      turn.text('Hello.'),
    )
    const conversation = await newConversation(server)
    await answer(server, conversation)
    await answer(server, conversation)
    const read = async (format: string, language: string) =>
      await (
        await fetch(`${server.url}/api/conversations/${conversation}/export?format=${format}`, {
          headers: { 'accept-language': language },
        })
      ).text()
    const markdown = await read('md', 'en')
    expect(markdown).toContain('### What was done\n\nFiles\n\n- + a\\_b.txt (+2 −0)\n')
    expect(markdown).toContain('Failed and not put right')
    expect(markdown.split('### What was done')).toHaveLength(2)
    const html = await read('html', 'de')
    expect(html).toContain('<li dir="auto">+ a_b.txt (+2 −0)</li>')
    expect(html).not.toContain('<img src=x>')
    expect(html).toContain('Dateien')
  })

  test('stays when a person changes the words of the answer', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'w.txt', content: 'w\n' } }]),
      turn.text('Written.'),
    )
    const conversation = await newConversation(server)
    const { id, receipt, path } = await answer(server, conversation)
    const revised = await server.call('POST', `${path}/revisions`, {
      body: { text: 'Nothing at all.' },
    })
    const changed = revised.json.data
    expect(changed.id).not.toBe(id)
    const { json } = await server.call(
      'GET',
      `/api/conversations/${conversation}/messages/${changed.id}/receipt`,
    )
    expect(json.data).toEqual(receipt)
  })

  test('is found for answers of an import that claim to be edited from each other', async () => {
    upstream.enqueue(turn.text('Hello.'))
    const conversation = await newConversation(server, false)
    await answer(server, conversation)
    const exported = JSON.parse(
      await (
        await fetch(`${server.url}/api/conversations/${conversation}/export?format=json`)
      ).text(),
    )
    const [question, said] = exported.messages
    const other = { ...said, id: newId(), edited_from: said.id }
    const body = {
      ...exported,
      messages: [question, { ...said, edited_from: other.id }, other],
    }
    const imported = await server.call('POST', '/api/conversations/import', { body })
    const path = `/api/conversations/${imported.json.data.id}/messages`
    const [, shown] = (await server.call('GET', path)).json.data.items
    for (const id of shown.siblings) {
      const read = await server.call('GET', `${path}/${id}/receipt`)
      expect(read.json.data).toMatchObject({ calls: { total: 0 }, files: [] })
    }
    expect(shown.siblings).toHaveLength(2)
  })

  test('a question, and an answer of another conversation, have none', async () => {
    upstream.enqueue(turn.text('Hello.'))
    const conversation = await newConversation(server, false)
    const { message, id } = await answer(server, conversation)
    const of = (owner: string, mid: string) =>
      server.call('GET', `/api/conversations/${owner}/messages/${mid}/receipt`)
    expect((await of(conversation, message.parent_id)).status).toBe(404)
    expect((await of(await newConversation(server, false), id)).status).toBe(404)
  })

  test('programs get its numbers with the answer, streamed or not', async () => {
    const call = turn.toolCalls([{ name: 'calculator', arguments: { expression: '1/0' } }])
    const body = { model: 'nanoclaw/scripted', messages: [{ role: 'user', content: 'Go' }] }
    const receipt = { ...NOTHING, unresolved: 1 }
    upstream.enqueue(call, turn.text('Done.'))
    const key = (await server.call('POST', '/api/auth/keys', { body: { name: 'program' } })).json
      .data.key
    const whole = await server.call('POST', '/v1/chat/completions', { body, token: key })
    expect(whole.json).toMatchObject({ nanoclaw: { receipt } })
    upstream.enqueue(call, turn.text('Done.'))
    const streamed = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...body, stream: true }),
    })
    expect(await streamed.text()).toContain(`"nanoclaw":{"receipt":${JSON.stringify(receipt)}}`)
    upstream.enqueue(call, turn.text('Done.'))
    const response = await server.call('POST', '/v1/responses', {
      body: { model: 'nanoclaw/scripted', input: 'Go' },
      token: key,
    })
    expect(response.json).toMatchObject({ nanoclaw: { receipt } })
  })
})

describe('a receipt', () => {
  const { start } = useServers()

  test('is the same after a restart, in the stream that is replayed and where it is read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-receipts-'))
    const file = { db_type: 'sqlite', db_sqlite_file: join(folder, 'store.db') }
    const first = await start({ folder, config: { ...config, ...file } })
    await first.server.toolsReady
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'r.txt', content: 'r\n' } }]),
      turn.text('Written.'),
    )
    const before = await answer(first, await newConversation(first))
    await first.close()
    const second = await start({ folder, config: { ...config, ...file } })
    expect((await second.call('GET', `${before.path}/receipt`)).json.data).toEqual(before.receipt)
    const { run_id: run } = before.message
    const replay = await (await openEvents(`${second.url}/api/runs/${run}/events`)).all()
    expect(replay.at(-1)?.data).toEqual(before.done)
    await second.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
