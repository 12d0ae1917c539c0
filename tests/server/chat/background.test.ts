// Background tasks: they outlive the answer and the process, and join the conversation when they are done.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UpstreamRequest } from '../../support/provider/upstream.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

const config = () => ({
  models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
  titles: 'first_message',
})
const lastText = (request: UpstreamRequest): string =>
  String(request.messages.findLast(({ role }) => role === 'user')?.content)

/** The answer to 'Go' starts the task and ends; `background` scripts the model of the task. */
const script = (background: (request: UpstreamRequest) => Turn, announce = true): void =>
  upstream.program((request) => {
    if (lastText(request) !== 'Go') return background(request)
    return request.messages.some(({ role }) => role === 'tool')
      ? turn.text('It is on its way.')
      : turn.toolCalls([{ name: 'spawn', arguments: { task: 'count the stars', announce } }])
  })

const inServer = (server: TestServer) => ({
  newConversation: async (): Promise<string> =>
    (await server.call('POST', '/api/conversations', { body: {} })).json.data.id,
  send: async (id: string, text: string) =>
    (await openEvents(`${server.url}/api/conversations/${id}/messages`, { body: { text } })).all(),
  messages: async (id: string) =>
    (await server.call('GET', `/api/conversations/${id}/messages`)).json.data.items,
  tasks: async (id: string) =>
    (await server.call('GET', `/api/conversations/${id}/background`)).json.data.items,
})

describeOnEachServer('a background task', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start(config())
    await server.server.toolsReady
  })

  test('does not delay the answer, and its result is announced in the conversation, which continues from there', async () => {
    const { newConversation, send, messages, tasks } = inServer(server)
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    script((request) =>
      lastText(request) === 'count the stars'
        ? turn.text('There are many.', { until: gate })
        : turn.text('You are welcome.'),
    )
    const id = await newConversation()
    const events = await send(id, 'Go')
    expect(events.at(-1)?.event).toBe('done')
    const step = events.find(({ data }) => data.type === 'tool_result')?.data
    const spawned = JSON.parse(step.content)
    expect(spawned).toMatchObject({ success: true, data: { id: expect.any(String) } })
    expect(await tasks(id)).toMatchObject([
      {
        id: spawned.data.id,
        task: 'count the stars',
        announce: true,
        status: 'running',
        result: '',
      },
    ])
    expect(await messages(id)).toHaveLength(2)

    release()
    await eventually(async () => expect(await messages(id)).toHaveLength(3))
    const announced = (await messages(id))[2]
    expect(announced).toMatchObject({
      role: 'assistant',
      text: 'There are many.',
      status: 'completed',
      process_steps: [{ type: 'text', content: 'There are many.' }],
    })
    expect(announced.siblings).toEqual([announced.id])
    expect(await tasks(id)).toMatchObject([
      { status: 'completed', result: 'There are many.', message_id: announced.id },
    ])

    await send(id, 'Thanks')
    const texts = (await messages(id)).map(({ text }: { text: string }) => text)
    expect(texts).toEqual([
      'Go',
      'It is on its way.',
      'There are many.',
      'Thanks',
      'You are welcome.',
    ])
    const { json } = await server.call('GET', `/api/conversations/${id}`)
    expect(json.data.message_count).toBe(5)
  })

  test('without an announcement appears only in the list, and gets no tools that start other agents', async () => {
    const { newConversation, send, messages, tasks } = inServer(server)
    let offered = ''
    script((request) => {
      offered = JSON.stringify(request.body.tools)
      return turn.text('Quietly done.')
    }, false)
    const id = await newConversation()
    await send(id, 'Go')
    await eventually(async () =>
      expect(await tasks(id)).toMatchObject([{ status: 'completed', result: 'Quietly done.' }]),
    )
    expect(await messages(id)).toHaveLength(2)
    expect(offered).toContain('calculator')
    expect(offered).not.toContain('"spawn"')
    expect(offered).not.toContain('"multi_agent"')
  })

  test('can be stopped, and does not exist in other conversations', async () => {
    const { newConversation, send, messages, tasks } = inServer(server)
    let asked: UpstreamRequest | undefined
    script((request) => {
      asked = request
      return turn.beforeHeaders('stall')
    })
    const id = await newConversation()
    await send(id, 'Go')
    await eventually(() => expect(asked).toBeDefined())
    const [task] = await tasks(id)
    const other = await newConversation()
    const wrong = await server.call(
      'POST',
      `/api/conversations/${other}/background/${task.id}/stop`,
    )
    expect(wrong.status).toBe(404)
    const stop = await server.call('POST', `/api/conversations/${id}/background/${task.id}/stop`)
    expect(stop).toMatchObject({ status: 200, json: { data: { status: 'stopped' } } })
    expect(await asked?.closed).toBe('client_left')
    expect(await tasks(id)).toMatchObject([{ status: 'stopped' }])
    expect(await messages(id)).toHaveLength(2)
    const unknown = await server.call('GET', '/api/conversations/nowhere/background')
    expect(unknown.status).toBe(404)
  })
})

describe('a background task of a server that shuts down', () => {
  const { start } = useServers()

  test('is completed and announced after the next start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'background-test-'))
    const place = {
      folder,
      config: { ...config(), db_type: 'sqlite', db_sqlite_file: join(folder, 'claw.db') },
    }
    let isBack = false
    script(() => (isBack ? turn.text('Still counted them.') : turn.beforeHeaders('stall')))
    const first = await start(place)
    await first.server.toolsReady
    const id = await inServer(first).newConversation()
    await inServer(first).send(id, 'Go')
    await eventually(() =>
      expect(upstream.requests.some((request) => lastText(request) === 'count the stars')).toBe(
        true,
      ),
    )
    await first.close()

    isBack = true
    const second = await start(place)
    await eventually(async () =>
      expect(await inServer(second).messages(id)).toMatchObject([
        { text: 'Go' },
        { text: 'It is on its way.' },
        { text: 'Still counted them.', status: 'completed' },
      ]),
    )
    await second.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('a later conversation', () => {
  const { start } = useServers()

  test('has a remembered fact in its system prompt', async () => {
    const server = await start({ config: config() })
    const { newConversation, send } = inServer(server)
    let prompt = ''
    upstream.program((request) => {
      if (lastText(request) === 'Who am I?') {
        prompt = String(request.messages[0]?.content)
        return turn.text('You are Kim.')
      }
      return request.messages.some(({ role }) => role === 'tool')
        ? turn.text('Noted.')
        : turn.toolCalls([{ name: 'save_memory', arguments: { fact: 'The user is called Kim' } }])
    })
    await send(await newConversation(), 'I am Kim')
    await send(await newConversation(), 'Who am I?')
    expect(prompt).toContain('The user is called Kim')
    const { json } = await server.call('GET', '/api/memory')
    expect(json.data.content).toMatch(
      /## Agent Memories\n\n- \d{4}-\d{2}-\d{2}: The user is called Kim/,
    )
  })
})
