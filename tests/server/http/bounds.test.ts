// Limits on the streams and connections that one user or address may hold open.
import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { startUpstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { useServers } from '../../support/server/server.ts'

describe('limits per user and address', () => {
  const { start } = useServers()
  const sockets: Socket[] = []
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
  })

  test('a stream beyond the limit is refused before a run starts, and a stream that ends frees its slot', async () => {
    const upstream = await startUpstream()
    const server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        limits: { streams_per_user: 3, json_depth: 5, page_items: 120 },
      },
    })
    // The limit on the depth of a body also comes from the configuration.
    const nested = (depth: number) => ({ title: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) })
    expect(
      (await server.call('POST', '/api/conversations', { body: nested(5) })).json,
    ).toMatchObject({ reason: 'json_too_deep', params: { levels: 5 } })
    // So does the limit on the size of a page.
    for (const list of ['conversations', 'projects', 'search?q=x'])
      expect(
        await Promise.all(
          [120, 121].map(async (limit) => {
            const joined = `/api/${list}${list.includes('?') ? '&' : '?'}limit=${limit}`
            return (await server.call('GET', joined)).status
          }),
        ),
        list,
      ).toEqual([200, 400])
    const conversation = async () =>
      (await server.call('POST', '/api/conversations', { body: {} })).json.data.id
    const id = await conversation()
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('Done.', { until: gate }))
    const first = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Go' },
    })
    const started = await first.next(({ event }) => event === 'run')
    const events = `/api/runs/${started.data.run_id}/events`
    const others = [await openEvents(server.url + events), await openEvents(server.url + events)]
    expect((await server.call('GET', events)).status).toBe(429)
    const other = await conversation()
    const refused = await server.call('POST', `/api/conversations/${other}/messages`, {
      body: { text: 'Me too' },
    })
    expect(refused.status).toBe(429)
    expect(
      (await server.call('GET', `/api/conversations/${other}/messages`)).json.data.items,
    ).toEqual([])
    release()
    await Promise.all([first, ...others].map((stream) => stream.all()))
    const again = await openEvents(server.url + events)
    expect((await again.all()).at(-1)?.event).toBe('done')
    await upstream.close()
  })

  test('a connection beyond the limit is closed, and a connection that ends frees its slot', async () => {
    const server = await start({ config: { limits: { connections_per_address: 4 } } })
    const { port, hostname } = new URL(server.url)
    /** Opens a connection; resolves to whether it was served. */
    const open = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname)
        sockets.push(socket)
        socket.once('data', () => resolve(true))
        socket.once('error', () => resolve(false))
        socket.once('close', () => resolve(false))
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
      })
    const served: boolean[] = []
    for (let count = 0; count < 6; count += 1) served.push(await open())
    expect(served).toEqual([true, true, true, true, false, false])
    sockets[0]?.destroy()
    await expect.poll(open).toBe(true)
  })
})
