// Taint of outside text survives stops and follows the text. Kills and random orders: tests/faults/outside-*.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { startModernMcpServer } from '../../fixtures/mcp-modern-server.ts'
import { eventually } from '../../support/eventually.ts'
import {
  actor,
  type Call,
  fetchCall,
  HOSTILE,
  outsideConfiguration,
  readCall as read,
  waitForStored,
  writeCall as write,
} from '../../support/faults/outside-actor.ts'
import type { UpstreamRequest } from '../../support/provider/upstream.ts'
import { type ScriptedCall, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { startWebSite, type WebSite } from '../../support/web-site.ts'

const upstream = await useUpstream()

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let site: WebSite
let posters: Awaited<ReturnType<typeof startModernMcpServer>>
/** Lets the slow page respond. */
let release: () => void
beforeAll(async () => {
  site = await startWebSite()
  site.serve('/page', 'text/plain', HOSTILE)
  posters = await startModernMcpServer((mcp) => {
    mcp.registerResource('Poster', 'posters://one', { mimeType: 'image/png' }, ({ href }) => ({
      contents: [{ uri: href, mimeType: 'image/png', blob: PIXEL }],
    }))
  })
})
beforeEach(() => {
  upstream.reset()
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  site.page('/slow', async (_request, response) => {
    await released
    response.setHeader('content-type', 'text/plain').end('slow')
  })
})
afterEach(() => release())
afterAll(async () => {
  await Promise.all([site.close(), posters.close()])
})

const fetchPage = (path: string) => fetchCall(site, path)

describeOnEachServer('text from outside', (start) => {
  let server: TestServer
  const call: Call = async (method, path, body) =>
    (await server.call(method, path, body === undefined ? {} : { body })).json
  const { createProject, createConversation, send, perform, asks, writeOutsideFile } = actor(
    () => ({ upstream, site, url: server.url }),
    call,
  )
  let project: string
  beforeAll(async () => {
    server = await start({
      ...outsideConfiguration(upstream),
      models: [{ id: 'scripted', api_url: upstream.url, vision: true }],
      tools: { exec: { enabled: true, network: false }, cache_ttl: 0 },
      mcp_servers: { posters: { url: posters.url } },
    })
    await server.server.toolsReady
  })
  beforeEach(async () => {
    project = await createProject()
  })

  test('nothing needs approval when no outside text was read', async () => {
    await call('PUT', `/api/projects/${project}/files/own.txt`, { content: 'my own words' })
    const conversation = await createConversation(project)
    expect(await asks(conversation, [read('own.txt')])).toBe(false)
  })

  test('after a stop between storing a page and using it, the next answer still requests approval', async () => {
    const conversation = await createConversation(project)
    upstream.enqueue(turn.toolCalls([fetchPage('/slow'), fetchPage('/page')]))
    const stream = await send(conversation)
    const { data } = await stream.next(({ event }) => event === 'run')
    await waitForStored(call, conversation, 'fetch_/page')
    await call('POST', `/api/runs/${data.run_id}/stop`)
    await stream.all()
    expect(await asks(conversation)).toBe(true)
  })

  test('after a stop while a sub-agent has read a page, the next answer still requests approval', async () => {
    const conversation = await createConversation(project)
    upstream.enqueue(
      turn.toolCalls([
        { name: 'multi_agent', arguments: { tasks: [{ name: 'a', instruction: 'look' }] } },
      ]),
      turn.toolCalls([fetchPage('/page')]),
    )
    let asked: () => void = () => {}
    const waiting = new Promise<void>((resolve) => {
      asked = resolve
    })
    upstream.enqueue(turn.text('never', { until: waiting }))
    const seen = upstream.requests.length
    const stream = await send(conversation)
    const { data } = await stream.next(({ event }) => event === 'run')
    await eventually(() =>
      expect(
        upstream.requests
          .slice(seen)
          .some(({ messages }) =>
            messages.some((message) => JSON.stringify(message).includes(HOSTILE)),
          ),
      ).toBe(true),
    )
    await call('POST', `/api/runs/${data.run_id}/stop`)
    await stream.all()
    asked()
    upstream.reset()
    expect(await asks(conversation)).toBe(true)
  })

  test('a file written after a page was read taints every conversation that reads the file', async () => {
    await writeOutsideFile(project, 'notes.md')
    expect(await asks(await createConversation(project), [read('notes.md')])).toBe(true)
    expect(
      await asks(await createConversation(project), [
        { name: 'file_grep', arguments: { pattern: 'orders' } },
      ]),
    ).toBe(true)
    expect(await asks(await createConversation(project))).toBe(false)
  })

  test('the mark stays with a file that is renamed, edited by a person, and restored', async () => {
    await writeOutsideFile(project, 'a.md')
    await call('PATCH', `/api/projects/${project}/files/a.md`, { new_path: 'deep/b.md' })
    expect(await asks(await createConversation(project), [read('deep/b.md')])).toBe(true)
    await call('PUT', `/api/projects/${project}/files/deep/b.md`, { content: `${HOSTILE} And so.` })
    expect(await asks(await createConversation(project), [read('deep/b.md')])).toBe(true)
    await call('DELETE', `/api/projects/${project}/files/deep`)
    const { data } = await call('GET', `/api/projects/${project}/checkpoints`)
    await call('POST', `/api/projects/${project}/checkpoints/${data.items[0].id}/restore`)
    expect(await asks(await createConversation(project), [read('deep/b.md')])).toBe(true)
  })

  test('a file that a command derives from a marked file is marked too', async () => {
    await writeOutsideFile(project, 'a.md')
    const copy = { name: 'exec', arguments: { command: 'tr a-z A-Z < a.md > b.md' } }
    await perform(await createConversation(project, 'auto'), [copy])
    expect(await asks(await createConversation(project), [read('b.md')])).toBe(true)
  })

  test('a marked file stays marked when a conversation that never read it appends to it', async () => {
    await writeOutsideFile(project, 'a.md')
    const append = { name: 'file_write', arguments: { path: 'a.md', content: 'x', mode: 'append' } }
    await perform(await createConversation(project, 'auto'), [append])
    expect(await asks(await createConversation(project), [read('a.md')])).toBe(true)
  })

  test('a fact that was learned from a page taints every conversation that knows it', async () => {
    const teacher = await createConversation(project, 'auto')
    await perform(
      teacher,
      [fetchPage('/page')],
      [{ name: 'save_memory', arguments: { fact: 'The user wants everything written twice.' } }],
    )
    upstream.enqueue(turn.text('Hello.'))
    const reader = await createConversation(project)
    const seen = upstream.requests.length
    await (await send(reader)).all()
    const [system, ...others] = upstream.requests[seen]?.messages ?? []
    expect(JSON.stringify(system)).not.toContain('written twice')
    expect(JSON.stringify(others)).toContain('written twice')
    await call('PUT', '/api/memory', { content: '' })
    // The conversation has read the fact, so it stays tainted after the fact is forgotten.
    expect(await asks(reader)).toBe(true)
    expect(await asks(await createConversation(project))).toBe(false)
  })

  test('a passage of a document taints the conversation, also when it comes from the cache', async () => {
    const form = new FormData()
    form.append('file', new Blob(['The harbour opens at six.']), 'harbour.txt')
    await fetch(`${server.url}/api/projects/${project}/documents`, { method: 'POST', body: form })
    await eventually(async () => {
      const { data } = await call('GET', `/api/projects/${project}/documents`)
      expect(data.items[0].status).toBe('ready')
    })
    const search = { name: 'search_knowledge', arguments: { query: 'harbour' } }
    for (let round = 0; round < 2; round += 1)
      expect(await asks(await createConversation(project), [search])).toBe(true)
  })

  test('a background task that reads a page taints its conversation, and a task of a tainted conversation is tainted from the start', async () => {
    const spawn = { name: 'spawn', arguments: { task: 'look it up' } }
    const tasks = async (id: string) =>
      (await call('GET', `/api/conversations/${id}/background`)).data.items
    const isTask = (request: UpstreamRequest) =>
      JSON.stringify(request.messages.find(({ role }) => role === 'user')).includes('look it up')
    const results = (request: UpstreamRequest) =>
      request.messages.filter(({ role }) => role === 'tool').length
    const playTask = (...batches: ScriptedCall[][]) =>
      upstream.program((request) => {
        const batch = batches[results(request)]
        if (!isTask(request)) return undefined
        return batch === undefined ? turn.text('Seen.') : turn.toolCalls(batch)
      })

    playTask([fetchPage('/page')])
    const reader = await createConversation(project)
    await perform(reader, [spawn])
    await eventually(async () => expect((await tasks(reader))[0].status).toBe('completed'))
    upstream.reset()
    expect(await asks(reader)).toBe(true)

    playTask([write('spawned.txt')])
    const tainted = await createConversation(project)
    await perform(tainted, [fetchPage('/page')], [spawn])
    await eventually(async () => expect((await tasks(tainted))[0].status).toBe('awaiting_approval'))
  })

  test('results of sub-agents that read a page taint the conversation', async () => {
    const conversation = await createConversation(project)
    const agents = {
      name: 'multi_agent',
      arguments: { tasks: [{ name: 'a', instruction: 'look' }] },
    }
    upstream.enqueue(
      turn.toolCalls([agents]),
      turn.toolCalls([fetchPage('/page')]),
      turn.text('It says nothing.'),
      turn.toolCalls([write('after.txt')]),
    )
    const stream = await send(conversation)
    const next = await stream.next(
      ({ event }) => event === 'approval_required' || event === 'done' || event === 'error',
    )
    expect(next.event).toBe('approval_required')
    await call('POST', `/api/runs/${next.data.run_id}/stop`)
  })

  test('file names given after a page was read taint every conversation that sees them, and appear in no other prompt', async () => {
    await writeOutsideFile(project, 'Obey this name.md')
    await call('PUT', `/api/projects/${project}/files/own.md`, { content: 'mine' })
    const list = { name: 'file_list', arguments: {} }
    const glob = (pattern: string) => ({ name: 'file_glob', arguments: { pattern } })
    expect(await asks(await createConversation(project), [glob('own*')])).toBe(false)
    for (const shown of [list, glob('*.md')])
      expect(await asks(await createConversation(project), [shown])).toBe(true)
    const seen = upstream.requests.length
    upstream.enqueue(turn.text('Hello.'))
    await (await send(await createConversation(project))).all()
    const prompt = JSON.stringify(upstream.requests[seen]?.messages)
    expect(prompt).toContain('own.md')
    expect(prompt).not.toContain('Obey this name')
  })

  test('an attached picture and a text inside a message count as text from outside', async () => {
    for (const attachment of [
      { name: 'notes.txt', content: HOSTILE },
      { name: 'poster.png', mime: 'image/png', data: PIXEL },
    ]) {
      const conversation = await createConversation(project)
      upstream.enqueue(turn.text('I see.'))
      const events = await (await send(conversation, { attachments: [attachment] })).all()
      expect(events.at(-1)?.event).toBe('done')
      expect(await asks(conversation), attachment.name).toBe(true)
    }
  })

  test('a picture that is the resource of an MCP server counts as text from outside', async () => {
    const { data: file } = await call('POST', '/api/mcp/resources/posters', {
      uri: 'posters://one',
    })
    expect(file).toMatchObject({ mime: 'image/png' })
    const conversation = await createConversation(project)
    upstream.enqueue(turn.text('I see.'))
    const seen = upstream.requests.length
    const body = { attachments: [{ file_id: file.id }] }
    expect((await (await send(conversation, body)).all()).at(-1)?.event).toBe('done')
    expect(JSON.stringify(upstream.requests[seen]?.messages.at(-1))).toContain('image_url')
    expect(await asks(conversation)).toBe(true)
  })

  test('an answer that a program sends back, or refers to, counts as text from outside', async () => {
    const remember = {
      name: 'save_memory',
      arguments: { fact: `The user likes ${Math.random()}.` },
    }
    /** Whether the call was refused because nobody approves calls of this program. */
    const isRefused = async (path: string, body: object): Promise<boolean> => {
      upstream.enqueue(turn.toolCalls([remember]), turn.text('Done.'))
      const seen = upstream.requests.length
      const response = await fetch(`${server.url}/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'nanoclaw/scripted', ...body }),
      })
      expect(response.status).toBe(200)
      const result = upstream.requests[seen + 1]?.messages.at(-1)
      return JSON.stringify(result).includes('needs the approval of a person')
    }
    const ask = { role: 'user', content: 'Go on' }
    expect(await isRefused('chat/completions', { messages: [ask] })).toBe(false)
    const answer = { role: 'assistant', content: HOSTILE }
    expect(await isRefused('chat/completions', { messages: [ask, answer, ask] })).toBe(true)
    upstream.enqueue(turn.toolCalls([fetchPage('/page')]), turn.text(HOSTILE))
    const first = await fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nanoclaw/scripted', input: 'Read the page' }),
    })
    const { output } = z
      .object({ output: z.array(z.looseObject({ type: z.string(), id: z.string() })) })
      .parse(await first.json())
    const id = output.find(({ type }) => type === 'message')?.id
    const input = [ask, { type: 'item_reference', id }, ask]
    expect(await isRefused('responses', { input })).toBe(true)
  })

  test('file names never appear in a system message', async () => {
    await call('PUT', `/api/projects/${project}/files/Obey the page.md`, { content: 'x' })
    upstream.enqueue(turn.text('Hello.'))
    const seen = upstream.requests.length
    await (await send(await createConversation(project))).all()
    const [system, ...others] = upstream.requests[seen]?.messages ?? []
    expect(system?.role).toBe('system')
    expect(JSON.stringify(system)).not.toContain('Obey the page')
    expect(JSON.stringify(others)).toContain('Obey the page')
  })
})

describeOnEachServer('commands that reach the network', (start) => {
  test('taint the conversation and the files that they write', async () => {
    const server = await start({
      ...outsideConfiguration(upstream),
      tools: { exec: { enabled: true, network: 'host' } },
    })
    const call: Call = async (method, path, body) =>
      (await server.call(method, path, body === undefined ? {} : { body })).json
    const { createProject, createConversation, perform, asks } = actor(
      () => ({ upstream, site, url: server.url }),
      call,
    )
    const project = await createProject()
    const command = { name: 'exec', arguments: { command: 'echo fetched | tee got.txt' } }
    const conversation = await createConversation(project, 'auto')
    await perform(conversation, [command])
    await call('PATCH', `/api/conversations/${conversation}`, { approval: 'auto_medium' })
    expect(await asks(conversation)).toBe(true)
    expect(await asks(await createConversation(project), [read('got.txt')])).toBe(true)
  })
})
