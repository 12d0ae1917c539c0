// A user's change events over HTTP: every kind, catching up on missed ones, and never those of another user.
import { createParser } from 'eventsource-parser'
import { beforeAll, describe, expect, test } from 'vitest'
import { scripted } from '../../../support/provider/scripted.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../../support/server/server.ts'

const upstream = await useUpstream()

interface Seen {
  id: string | undefined
  event: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into data of every shape
  data: any
}

/** Reads a stream of change events; `next` waits for the first unread one of a name. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const controller = new AbortController()
  const response = await fetch(`${url}/api/events`, { headers, signal: controller.signal })
  const seen: Seen[] = []
  let wake = (): void => {}
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      seen.push({ id, event, data: JSON.parse(data) })
      wake()
    },
  })
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const part of response.body ?? [])
      parser.feed(decoder.decode(part, { stream: true }))
  })().catch(() => undefined)
  return {
    status: response.status,
    seen,
    async next(event: string): Promise<Seen> {
      for (;;) {
        const at = seen.findIndex((one) => one.event === event)
        const [found] = at < 0 ? [] : seen.splice(at, 1)
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    async leave() {
      controller.abort()
      await reading
    },
  }
}

describe('GET /api/events', () => {
  const servers = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await servers.start({
      config: { ...scripted(upstream), auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
    })
  })

  const register = async (username: string): Promise<string> => {
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { username, password: 'a long password' },
    })
    return json.data.token
  }

  test('a change is sent to its user only, also after the client reconnects', async () => {
    const [ann, bob] = [await register('ann'), await register('bob')]
    const reader = await listen(server.url, { authorization: `Bearer ${ann}` })
    const other = await listen(server.url, { authorization: `Bearer ${bob}` })
    const { id: start } = await reader.next('ready')
    await other.next('ready')

    const created = await server.call('POST', '/api/conversations', { token: ann, body: {} })
    const id: string = created.json.data.id
    expect((await reader.next('conversation')).data).toEqual({ id, change: 'created' })
    await server.call('PATCH', `/api/conversations/${id}`, { token: ann, body: { title: 'Named' } })
    expect((await reader.next('conversation')).data).toEqual({ id, change: 'updated' })
    // A refused request changes nothing.
    await server.call('PATCH', `/api/conversations/${id}`, { token: ann, body: { title: 7 } })
    await server.call('PATCH', `/api/conversations/${id}`, { token: bob, body: { title: 'Mine' } })

    upstream.enqueue(turn.text('Hello.'))
    await server.call('POST', `/api/conversations/${id}/messages`, {
      token: ann,
      body: { text: 'Hi', stream: false },
    })
    const started = await reader.next('run')
    expect(started.data).toMatchObject({ change: 'created', conversation_id: id })
    expect((await reader.next('run')).data).toMatchObject({
      id: started.data.id,
      change: 'updated',
    })
    await server.call('PUT', '/api/memory', { token: ann, body: { content: 'A fact.' } })
    expect((await reader.next('settings')).data).toEqual({ id: 'memory', change: 'updated' })
    const project = await server.call('POST', '/api/projects', { token: ann, body: { name: 'p' } })
    const projectId: string = project.json.data.id
    expect((await reader.next('project')).data).toEqual({ id: projectId, change: 'created' })
    await server.call('PUT', `/api/projects/${projectId}/files/a/b.txt`, {
      token: ann,
      body: { content: 'x' },
    })
    expect((await reader.next('file')).data).toEqual({
      id: 'a/b.txt',
      change: 'created',
      project_id: projectId,
    })
    await reader.leave()

    await server.call('DELETE', `/api/conversations/${id}`, { token: ann })
    const later = await listen(server.url, {
      authorization: `Bearer ${ann}`,
      'last-event-id': start ?? '',
    })
    await later.next('ready')
    expect(later.seen.map(({ event, data }) => `${event} ${data.change}`)).toEqual([
      'conversation created',
      'conversation updated',
      'run created',
      'run updated',
      'settings updated',
      'project created',
      'file created',
      'conversation deleted',
    ])
    await later.leave()
    const lost = await listen(server.url, {
      authorization: `Bearer ${ann}`,
      'last-event-id': 'of-another-process',
    })
    await lost.next('reset')
    await lost.leave()
    expect(other.seen).toEqual([])
    await other.leave()
    expect((await listen(server.url)).status).toBe(401)
  })
})
