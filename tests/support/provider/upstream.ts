// The scripted provider: an OpenAI-compatible server on loopback that plays turns, and records requests and endings.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Action, Turn } from './upstream-turns.ts'

/** How a response ended, as seen by the server. */
export type Ending = 'completed' | 'client_left' | 'server_cut'

export interface ChatMessage {
  role: string
  content?: unknown
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
  reasoning_content?: string
}

export interface UpstreamRequest {
  readonly number: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The client's port; equal for requests on a reused connection. */
  readonly clientPort: number
  /** The bearer token; empty if there is none. */
  readonly apiKey: string
  readonly model: string
  readonly stream: boolean
  /** The parsed JSON body; `{}` if there is none or it is not an object. */
  readonly body: Readonly<Record<string, unknown>>
  readonly messages: readonly ChatMessage[]
  /** Wall-clock time in milliseconds, as is `closedAt`. */
  readonly openedAt: number
  closedAt: number | null
  ending: Ending | null
  /** Resolves when the response has ended, in whatever way. */
  readonly closed: Promise<Ending>
}

/** Picks a turn from the request alone, so that it also works for a server that was killed and restarted. */
export type Program = (request: UpstreamRequest) => Turn | undefined

export interface Upstream {
  /** The base URL of the API, `http://127.0.0.1:<port>/v1`. */
  readonly url: string
  readonly port: number
  /** Every request so far, model lists included, oldest first. */
  readonly requests: readonly UpstreamRequest[]
  /** Ids that `GET /v1/models` returns. */
  models: string[]
  /** Queues turns for the next requests of any client, one turn per request. */
  enqueue(...turns: Turn[]): void
  /** Queues turns for one API key or one model only; these take precedence over the common queue. */
  enqueueFor(target: { apiKey: string } | { model: string }, ...turns: Turn[]): void
  /** Adds a program. Programs take precedence over the queues; the first one that returns a turn wins. */
  program(program: Program): void
  /** Removes programs and queued turns; forgets unscripted requests and those that `nextRequest` has not returned. */
  reset(): void
  /** Resolves to the first model request that no earlier `nextRequest` returned; waits for one if necessary. */
  nextRequest(): Promise<UpstreamRequest>
  /** Throws if a queued turn was not used or a request had no scripted turn. */
  expectDone(): void
  close(): Promise<void>
}

const isModelCall = ({ path }: Pick<UpstreamRequest, 'path'>): boolean =>
  /\/(chat\/completions|messages|responses)$/.test(path)

/** Starts a server on the given port, by default a free one. */
export async function startUpstream(options: { port?: number } = {}): Promise<Upstream> {
  const requests: UpstreamRequest[] = []
  const unscripted: UpstreamRequest[] = []
  let programs: Program[] = []
  const queues = new Map<string, Turn[]>()
  const sockets = new Set<Socket>()
  const waiting: ((request: UpstreamRequest) => void)[] = []
  const unclaimed: UpstreamRequest[] = []

  const queueOf = (key: string): Turn[] => {
    const queue = queues.get(key) ?? []
    queues.set(key, queue)
    return queue
  }
  const turnFor = (request: UpstreamRequest): Turn | undefined => {
    for (const program of programs) {
      const turn = program(request)
      if (turn !== undefined) return turn
    }
    if (!isModelCall(request)) return undefined
    return (
      queueOf(`key ${request.apiKey}`).shift() ??
      queueOf(`model ${request.model}`).shift() ??
      queueOf('').shift()
    )
  }

  const upstream: Upstream = {
    url: '',
    port: 0,
    requests,
    models: ['test-model'],
    enqueue: (...turns) => void queueOf('').push(...turns),
    enqueueFor: (target, ...turns) =>
      void queueOf('apiKey' in target ? `key ${target.apiKey}` : `model ${target.model}`).push(
        ...turns,
      ),
    program: (program) => void programs.push(program),
    reset() {
      programs = []
      queues.clear()
      unclaimed.length = 0
      unscripted.length = 0
    },
    nextRequest() {
      const ready = unclaimed.shift()
      if (ready !== undefined) return Promise.resolve(ready)
      return new Promise((resolve) => waiting.push(resolve))
    },
    expectDone() {
      const left = [...queues].filter(([, queue]) => queue.length > 0)
      if (left.length > 0) {
        const names = left.map(([key, queue]) => `${queue.length} for ${key || 'anybody'}`)
        throw new Error(`scripted turns left unused: ${names.join(', ')}`)
      }
      if (unscripted.length > 0) {
        const last = unscripted.at(-1)?.messages.at(-1)
        throw new Error(
          `${unscripted.length} request(s) without a scripted turn; last message: ${JSON.stringify(last)}`,
        )
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  })
  server.on('connection', (socket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    const { request, settle } = record(requests.length + 1, incoming, body)
    requests.push(request)
    response.on('close', () => settle(response.writableFinished ? 'completed' : 'client_left'))
    const turn = turnFor(request)
    if (isModelCall(request)) {
      const claim = waiting.shift()
      if (claim === undefined) unclaimed.push(request)
      else claim(request)
    }
    if (turn !== undefined) return play(turn, request, response, settle)
    if (request.method === 'GET' && request.path.endsWith('/models')) {
      const data = upstream.models.map((id) => ({ id, object: 'model', owned_by: 'test' }))
      return answerJson(response, 200, { object: 'list', data })
    }
    unscripted.push(request)
    // Not a 500: the server would repeat the call for seven seconds.
    answerJson(response, 400, { error: { message: 'no scripted turn is left', type: 'script' } })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  // The address of a server that listens on TCP is an AddressInfo.
  const { port } = server.address() as AddressInfo
  return Object.assign(upstream, { port, url: `http://127.0.0.1:${port}/v1` })
}

/** Returns a base URL whose port nothing listens on: connections are refused. */
export async function refusingUrl(): Promise<string> {
  const upstream = await startUpstream()
  await upstream.close()
  return upstream.url
}

function record(number: number, incoming: IncomingMessage, body: Record<string, unknown>) {
  let resolve: (ending: Ending) => void = () => {}
  const closed = new Promise<Ending>((settled) => {
    resolve = settled
  })
  const request: UpstreamRequest = {
    number,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    clientPort: incoming.socket.remotePort ?? 0,
    apiKey: (incoming.headers.authorization ?? '').replace(/^Bearer /, ''),
    model: typeof body.model === 'string' ? body.model : '',
    stream: body.stream === true,
    body,
    // Not validated: tests assert on what they receive. A body without messages counts as an empty list.
    messages: Array.isArray(body.messages) ? (body.messages as ChatMessage[]) : [],
    openedAt: Date.now(),
    closedAt: null,
    ending: null,
    closed,
  }
  const settle = (ending: Ending) => {
    if (request.ending !== null) return
    request.ending = ending
    request.closedAt = Date.now()
    resolve(ending)
  }
  return { request, settle }
}

async function readBody(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part)
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function play(
  turn: Turn,
  request: UpstreamRequest,
  response: ServerResponse,
  settle: (ending: Ending) => void,
): Promise<void> {
  if (turn.beforeHeaders !== undefined) return finish(turn.beforeHeaders, response, settle)
  if (!request.stream && turn.whole !== undefined) {
    for (const action of turn.actions) if ('until' in action) await action.until
    return answerJson(response, turn.status, turn.whole)
  }
  response.writeHead(turn.status, { ...turn.headers })
  response.flushHeaders()
  for (const action of turn.actions) {
    if (request.ending !== null) return
    if ('finish' in action) return finish(action.finish, response, settle)
    await perform(action, request, response)
  }
  finish('end', response, settle)
}

async function perform(
  action: Exclude<Action, { finish: unknown }>,
  request: UpstreamRequest,
  response: ServerResponse,
): Promise<void> {
  if ('wait' in action) return Promise.race([sleep(action.wait), request.closed.then(() => {})])
  if ('until' in action) {
    await Promise.race([action.until, request.closed])
    return
  }
  if (response.write(action.send)) return
  await Promise.race([
    new Promise<void>((resolve) => response.once('drain', resolve)),
    request.closed,
  ])
}

function finish(
  how: 'end' | 'fin' | 'reset' | 'stall',
  response: ServerResponse,
  settle: (ending: Ending) => void,
): void {
  if (how === 'end') response.end()
  if (how === 'fin' || how === 'reset') settle('server_cut')
  if (how === 'fin') response.socket?.end()
  // A reset discards data that the client has not read yet, so what was sent gets a moment to arrive.
  if (how === 'reset') setTimeout(() => response.socket?.resetAndDestroy(), 20)
}

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    if (milliseconds === 0) setImmediate(resolve)
    else setTimeout(resolve, milliseconds)
  })
