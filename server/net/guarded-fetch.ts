// The only way for tools to reach the web: public addresses only, bounded in size, time and redirects, without credentials.
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { buildConnector, Response, FormData as UndiciForm } from 'undici'
import { linkedController, untilAborted } from '../lib/abort.ts'
import { type Proxies, processProxies, throughProxies } from '../lib/proxies.ts'
import { type AddressRules, bareHost } from './addresses.ts'
import { AddressRefused, describeFault, type FetchFault, HOST_UNKNOWN } from './fetch-faults.ts'
import { openTextSocket, type SocketOptions, type TextSocket } from './text-socket.ts'

/** A complete response. */
export interface Fetched {
  ok: true
  /** The URL after redirects. */
  url: string
  status: number
  /** The `content-type` header in lower case; empty when there was none. */
  contentType: string
  headers: Readonly<Record<string, string>>
  /** Decoded bytes, at most `maxBytes`. */
  body: Uint8Array
  /** Whether the response had more than `maxBytes`. */
  truncated: boolean
}

/** `error` describes the failure to the model and the user, without host paths or keys. */
export type FetchOutcome =
  | Fetched
  | { ok: false; fault: FetchFault; error: string; status?: number; url: string }

/** One request and its limits. */
export interface FetchOptions {
  signal: AbortSignal
  method?: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  /** A form is sent as `multipart/form-data`. */
  body?: string | Uint8Array | FormData
  /** Maximum number of decoded bytes to read; default 5 MB. */
  maxBytes?: number
  /** Time limit for everything, including redirects and the whole body; default 10 s. */
  timeoutMs?: number
  /**
   * Maximum number of redirects to follow; default 5. With 0, and for requests with a body, the redirect is the response.
   */
  maxRedirects?: number
  /** Whether a redirect to this address is followed; by default, every one is. Asked before its host is resolved. */
  allowsRedirect?(address: URL): Promise<boolean>
  /** Refuses a response by its content type before the body is read; returns the reason, or null to accept. */
  refuseType?(contentType: string): string | null
  /**
   * Whether the URL comes from the operator's configuration. Then its origin may be private, but not that of redirects
   * elsewhere.
   */
  trusted?: boolean
}

/** Fetches from public addresses only; see `AddressRules`. */
export interface GuardedFetch {
  /** Never throws. HTTP errors (status 400 and above) are `ok`, too: check `status`. */
  (url: string, options: FetchOptions): Promise<FetchOutcome>
  close(): Promise<void>
}

/** Also holds connections open, and checks addresses for other protocols. */
export interface GuardedConnections extends GuardedFetch {
  /**
   * Opens a WebSocket, whose address comes from the operator's configuration or from a service that is named there. It ends with
   * the signal, when the other side doesn't answer a ping within 30 s, and at a message of more than 4 MB.
   * @throws Error why it could not be opened.
   */
  openSocket(url: string, options: SocketOptions): Promise<TextSocket>
  /**
   * The address of a host to which another protocol than HTTP connects; its port isn't restricted.
   * @throws Error if it may not be reached, or isn't known.
   */
  addressOf(host: string): Promise<string>
}

/** Resolves all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly { address: string; family: number }[]>

const MAX_BYTES = 5_000_000
const TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 5
const CONNECT_TIMEOUT_MS = 10_000
const MAX_URL_CHARACTERS = 8_000
const MAX_SOCKET_MESSAGE_BYTES = 4_000_000
/** A port that is never refused. */
const ALLOWED_PORT = 443
const USER_AGENT = 'Mozilla/5.0 (compatible; NanoClaw/0.1)'

const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true })

/** Call `close` to end its connections. */
export function createGuardedFetch(options: {
  rules: AddressRules
  resolve?: Resolve
  /** By default, those of the environment. */
  proxies?: Proxies
}): GuardedConnections {
  const { rules, resolve = resolveBySystem, proxies = processProxies() } = options
  let opened: ReturnType<typeof openConnections> | undefined

  const get = async (start: string, request: FetchOptions): Promise<FetchOutcome> => {
    const { controller, release } = linkedController(request.signal)
    const limit = request.timeoutMs ?? TIMEOUT_MS
    const timeout = new Error(`No complete response within ${limit / 1000} seconds.`)
    const timer = setTimeout(() => controller.abort(timeout), limit)
    try {
      return await untilAborted(follow(start, request, controller.signal), controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) return { ok: false, url: start, ...describeFault(error) }
      return request.signal.aborted
        ? { ok: false, url: start, fault: 'failed', error: 'Stopped.' }
        : { ok: false, url: start, fault: 'timed_out', error: timeout.message }
    } finally {
      clearTimeout(timer)
      release()
      controller.abort()
    }
  }

  async function follow(
    start: string,
    request: FetchOptions,
    signal: AbortSignal,
  ): Promise<FetchOutcome> {
    let target = readUrl(start)
    const trustedOrigin = request.trusted ? target.origin : null
    const redirects = request.body === undefined ? (request.maxRedirects ?? MAX_REDIRECTS) : 0
    opened ??= openConnections(rules, resolve, proxies)
    const { fetch, FormData: Form, guarded, open } = await opened
    for (let hop = 0; ; hop++) {
      const trusted = target.origin === trustedOrigin
      const isProxied = proxies.proxyOf(target) !== undefined
      if (!trusted) checkLiteral(target, rules)
      if (!trusted && isProxied) await checkBehindProxy(target, rules, resolve)
      const response = await fetch(target, {
        method: request.method ?? 'GET',
        headers: { 'user-agent': USER_AGENT, ...(trusted || hop === 0 ? request.headers : {}) },
        ...(request.body === undefined ? {} : { body: bodyFor(Form, request.body) }),
        redirect: 'manual',
        credentials: 'omit',
        dispatcher: trusted || isProxied ? open.dispatcher : guarded,
        signal,
      })
      const location =
        redirects > 0 && isRedirect(response.status) ? response.headers.get('location') : null
      if (location === null) return await read(response, target, request)
      await response.body?.cancel()
      if (hop >= redirects)
        return {
          ok: false,
          url: target.href,
          fault: 'failed',
          error: `More than ${redirects} redirects.`,
        }
      const next = readUrl(location, target)
      if (next.host !== target.host && (await request.allowsRedirect?.(next)) === false)
        throw new AddressRefused(
          `It redirects to ${next.host}, which this conversation does not know. Nothing was requested there.`,
        )
      target = next
    }
  }

  return Object.assign(get, {
    async openSocket(url: string, socket: SocketOptions): Promise<TextSocket> {
      opened ??= openConnections(rules, resolve, proxies)
      const { WebSocket, ping, open } = await opened
      const { dispatcher } = open
      return await openTextSocket(new WebSocket(url, { dispatcher }), ping, socket)
    },
    async addressOf(host: string): Promise<string> {
      const name = bareHost(host)
      const found = isIP(name) === 0 ? await resolve(name) : [{ address: name }]
      const [first] = found
      if (first === undefined) throw new Error(HOST_UNKNOWN.error)
      const refusal = rules.refusal(
        name,
        ALLOWED_PORT,
        found.map(({ address }) => address),
      )
      if (refusal !== null) throw new AddressRefused(refusal)
      return first.address
    },
    close: async () => {
      const connections = await opened
      await Promise.all([connections?.guarded.destroy(), connections?.open.destroy()])
    },
  })
}

/** The package is loaded on the first request (decision 0018): many servers never fetch anything. */
async function openConnections(rules: AddressRules, resolve: Resolve, proxies: Proxies) {
  // The bundled package has only the default export.
  const { default: undici } = await import('undici')
  const { Agent, buildConnector, fetch, FormData, WebSocket, ping } = undici
  const connect = guardedConnector(buildConnector, rules, resolve)
  return {
    fetch,
    FormData,
    WebSocket,
    ping,
    guarded: new Agent({ connect, maxHeaderSize: 32_768 }),
    open: await throughProxies(
      new Agent({
        connect: { timeout: CONNECT_TIMEOUT_MS },
        maxHeaderSize: 32_768,
        webSocket: { maxPayloadSize: MAX_SOCKET_MESSAGE_BYTES },
      }),
      { maxHeaderSize: 32_768 },
      proxies,
    ),
  }
}

/** The package takes forms of its own class only, not those of Node.js. */
function bodyFor(Form: typeof UndiciForm, body: string | Uint8Array | FormData) {
  if (!(body instanceof FormData)) return body
  const form = new Form()
  for (const [name, value] of body)
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  return form
}

function readUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_CHARACTERS) throw new AddressRefused('The URL is too long.')
  if (!URL.canParse(text, base?.href)) throw new AddressRefused('This is not a valid URL.')
  const url = new URL(text, base?.href)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new AddressRefused('Only http and https URLs can be fetched.')
  if (url.username !== '' || url.password !== '')
    throw new AddressRefused('URLs with a user name or password in them are not fetched.')
  return url
}

const portOf = (url: { port: string; protocol: string }): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** Literal addresses skip the DNS lookup, so they are checked before connecting. */
function checkLiteral(url: URL, rules: AddressRules): void {
  const host = bareHost(url.hostname)
  const local = host === 'localhost' || host.endsWith('.localhost')
  const address = local ? '127.0.0.1' : host
  if (isIP(address) === 0) return
  const refusal = rules.refusal(host, portOf(url), [address])
  if (refusal !== null) throw new AddressRefused(refusal)
}

/** Names that only an own network resolves; those without a dot, too. */
const OWN_NETWORK = /^[^.]+$|\.(?:local|localhost|internal|intranet|lan|home\.arpa|localdomain)$/

/**
 * The proxy connects, and resolves the name itself. A name that also resolves here must have public addresses; one that does not,
 * because only the proxy can resolve it, must not belong to an own network.
 */
async function checkBehindProxy(url: URL, rules: AddressRules, resolve: Resolve): Promise<void> {
  const host = bareHost(url.hostname).replace(/\.$/, '')
  if (isIP(host) !== 0) return
  const found = await resolve(host).catch(() => [])
  const addresses = found.map(({ address }) => address)
  if (addresses.length === 0 && OWN_NETWORK.test(host))
    throw Object.assign(new Error(HOST_UNKNOWN.error), { code: 'ENOTFOUND' })
  const refusal = rules.refusal(host, portOf(url), addresses)
  if (refusal !== null) throw new AddressRefused(refusal)
}

/** Checks the resolved addresses when connecting, and connects to exactly those (no DNS rebinding). */
function guardedConnector(
  build: typeof buildConnector,
  rules: AddressRules,
  resolve: Resolve,
): buildConnector.connector {
  return (target, callback) => {
    const host = bareHost(target.hostname)
    const connect = build({
      timeout: CONNECT_TIMEOUT_MS,
      lookup: (_hostname, how, answer) => {
        const settle = async (): Promise<void> => {
          const found = await resolve(host)
          const [first] = found
          if (first === undefined)
            throw Object.assign(new Error(HOST_UNKNOWN.error), { code: 'ENOTFOUND' })
          const addresses = found.map((one) => one.address)
          const refusal = rules.refusal(host, portOf(target), addresses)
          if (refusal !== null) throw new AddressRefused(refusal)
          if (how.all) answer(null, [...found])
          else answer(null, first.address, first.family)
        }
        settle().catch((error: Error) => answer(error, ''))
      },
    })
    if (isIP(host) !== 0) {
      const refusal = rules.refusal(host, portOf(target), [host])
      if (refusal !== null) {
        callback(new AddressRefused(refusal), null)
        return
      }
    }
    connect(target, callback)
  }
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

async function read(response: Response, url: URL, request: FetchOptions): Promise<FetchOutcome> {
  const contentType = (response.headers.get('content-type') ?? '').toLowerCase()
  const refusal = request.refuseType?.(contentType) ?? null
  if (refusal !== null) {
    await response.body?.cancel()
    return { ok: false, url: url.href, status: response.status, fault: 'failed', error: refusal }
  }
  const limit = request.maxBytes ?? MAX_BYTES
  const parts: Uint8Array[] = []
  let size = 0
  let truncated = false
  for await (const part of response.body ?? []) {
    const bytes: Uint8Array = part
    if (size + bytes.length > limit) {
      parts.push(bytes.subarray(0, limit - size))
      size = limit
      truncated = true
      break
    }
    parts.push(bytes)
    size += bytes.length
  }
  return {
    ok: true,
    url: url.href,
    status: response.status,
    contentType,
    headers: Object.fromEntries(response.headers),
    body: Buffer.concat(parts, size),
    truncated,
  }
}
