// A scripted Slack: its Web API, and Socket Mode that sends each envelope again until it was acknowledged so often.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ServerSocket, serveSockets } from './text-sockets.ts'

export const SLACK_TOKENS = { app_token: 'xapp-1-A1-test', bot_token: 'xoxb-1-test' }

interface Call {
  method: string
  token: string
  body: Record<string, unknown>
}

/** Starts one. `times`: how often each envelope is sent over a connection, less how often it was acknowledged before. */
export async function startSlack({ times = 3 } = {}) {
  const calls: Call[] = []
  /** Errors instead of answers, by method. */
  const refusals = new Map<string, string>()
  const acknowledged = new Map<string, number>()
  const files = new Map<string, Buffer>()
  /** Until when no file is given. */
  const held = { files: Promise.resolve() }
  const uploads: Buffer[] = []
  const sockets = new Set<ServerSocket>()
  const sent: { id: string; envelope: Record<string, unknown> }[] = []
  let opened = 0
  let ts = 1_700_000_000

  /** Sends an envelope as often as it has yet to be acknowledged. */
  const deliver = (socket: ServerSocket, { id, envelope }: (typeof sent)[number]): void => {
    for (let left = times - (acknowledged.get(id) ?? 0); left > 0; left -= 1)
      socket.send(JSON.stringify(envelope))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const url = new URL(request.url ?? '', base)
      const raw = Buffer.concat(chunks)
      const token = (request.headers.authorization ?? '').replace('Bearer ', '')
      if (url.pathname.startsWith('/files/')) {
        const bytes = files.get(url.pathname)
        const status = bytes === undefined || token === '' ? 403 : 200
        void held.files.then(() => response.writeHead(status).end(bytes))
        return
      }
      if (url.pathname === '/moved') {
        response.writeHead(302, { location: url.searchParams.get('to') ?? '' }).end()
        return
      }
      if (url.pathname === '/upload') {
        uploads.push(raw)
        response.end('OK')
        return
      }
      const method = url.pathname.replace('/api/', '')
      const body = raw.length === 0 ? Object.fromEntries(url.searchParams) : JSON.parse(String(raw))
      calls.push({ method, token, body })
      const error = refusals.get(method)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          error === undefined ? { ok: true, ...answer(method) } : { ok: false, error },
        ),
      )
    })
  })
  serveSockets(server, (socket) => {
    sockets.add(socket)
    socket.send(JSON.stringify({ type: 'hello', num_connections: 1 }))
    for (const one of sent) deliver(socket, one)
    return {
      onText(text) {
        const { envelope_id: id } = JSON.parse(text)
        acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1)
      },
      onEnd: () => sockets.delete(socket),
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  const base = `http://127.0.0.1:${port}`

  function answer(method: string): Record<string, unknown> {
    if (method === 'auth.test')
      return { user_id: 'UBOT', team_id: 'T1', user: 'nano', team: 'Acme' }
    if (method === 'apps.connections.open') {
      opened += 1
      return { url: `ws://127.0.0.1:${port}/link/?ticket=${opened}` }
    }
    if (method === 'users.info') return { user: { real_name: 'Ann', name: 'ann' } }
    if (method === 'chat.postMessage') {
      ts += 1
      return { ts: `${ts}.000100` }
    }
    if (method === 'files.getUploadURLExternal')
      return { upload_url: `${base}/upload`, file_id: 'F1' }
    return {}
  }

  /** Sends an envelope as often as it is meant to be, over the newest connection. */
  function give(type: string, payload: Record<string, unknown>, id = `env-${sent.length}`): string {
    const one = { id, envelope: { type, envelope_id: id, payload } }
    sent.push(one)
    const [newest] = [...sockets].toReversed()
    if (newest !== undefined) deliver(newest, one)
    return id
  }
  return {
    url: `${base}/api`,
    base,
    calls,
    refusals,
    acknowledged,
    files,
    held,
    uploads,
    sockets,
    give,
    of: (method: string) => calls.filter((one) => one.method === method),
    texts: () =>
      calls.filter(({ method }) => method === 'chat.postMessage').map(({ body }) => body.text),
    connections: () => opened,
    /** A message of a person. */
    say: (event: Record<string, unknown>) =>
      give('events_api', {
        team_id: 'T1',
        event: { type: 'message', channel: 'D1', channel_type: 'im', user: 'U77', ...event },
      }),
    press: (user: string, id: string) =>
      give('interactive', {
        type: 'block_actions',
        user: { id: user },
        channel: { id: 'D1' },
        trigger_id: `trigger-${sent.length}`,
        actions: [{ action_id: id, value: id, action_ts: String(sent.length) }],
      }),
    /** Breaks all connections. */
    drop() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    /** Asks the program to connect again. */
    refresh() {
      for (const socket of sockets)
        socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
