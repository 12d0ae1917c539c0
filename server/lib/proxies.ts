// Proxies for requests to other servers, as the environment names them: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in capitals or not.
import { isIPv6 } from 'node:net'
import type { Dispatcher, ProxyAgent } from 'undici'

/** Which requests go through which proxy. */
export interface Proxies {
  /** The URL of the proxy for a request; undefined: it goes directly. */
  proxyOf(target: URL): string | undefined
  /** The proxies without user names and passwords, for the log. */
  shown: readonly string[]
  /** The passwords, which the log must not contain. */
  secrets: readonly string[]
}

/** An environment variable that names no proxy; the message says which one and what it must be. */
export class ProxyError extends Error {}

const PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' }
/** What runs on this machine is never behind a proxy. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** An entry of NO_PROXY with its IPv6 address as URLs write it. */
function asInUrl(entry: string): string {
  const [, inBrackets, port = ''] = /^\[(.*)\](:\d+)?$/.exec(entry) ?? []
  const address = inBrackets ?? entry
  const url = `http://[${address}]`
  return isIPv6(address) && URL.canParse(url) ? `${new URL(url).hostname}${port}` : entry
}

/**
 * Entries of NO_PROXY are separated by commas or white space: `*`, a host, a domain (`.example.org`, `*.example.org`; a host
 * includes what is below it, as in curl), each with or without a port, or an IPv6 address, whose brackets are only needed with a port.
 * @throws ProxyError for an address that is no http(s) URL, and for a user name or password that cannot be decoded.
 */
export function readProxies(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const read = (name: string): URL | undefined => {
    const text = environment[name] || environment[name.toLowerCase()]
    if (text === undefined || text === '') return undefined
    const url = URL.canParse(text) ? new URL(text) : null
    if (url === null || !(url.protocol in PORTS))
      throw new ProxyError(
        `${name}: expected the URL of a proxy, such as http://proxy.example.org:3128. Correct or remove the environment variable.`,
      )
    if (!isDecodable(url.username) || !isDecodable(url.password))
      throw new ProxyError(
        `${name}: the user name or password contains a % that encodes no character. Write the % itself as %25.`,
      )
    return url
  }
  const byProtocol: Record<string, URL | undefined> = {
    'http:': read('HTTP_PROXY'),
    'https:': read('HTTPS_PROXY'),
  }
  const exceptions = (environment.NO_PROXY || environment.no_proxy || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(asInUrl)
  const isException = ({ hostname, port, protocol }: URL): boolean =>
    LOOPBACK.test(hostname) ||
    exceptions.some((entry) => {
      if (entry === '*') return true
      const [, host = entry, entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
      if (entryPort !== undefined && entryPort !== (port || PORTS[protocol])) return false
      const domain = host.replace(/^\*?\./, '')
      return hostname === domain || hostname.endsWith(`.${domain}`)
    })
  const proxies = Object.values(byProtocol).filter((url) => url !== undefined)
  return {
    proxyOf: (target) => (isException(target) ? undefined : byProtocol[target.protocol]?.href),
    shown: [...new Set(proxies.map(({ origin }) => origin))],
    secrets: proxies.flatMap(({ password }) =>
      password === '' ? [] : [password, decodeURIComponent(password)],
    ),
  }
}

let ofProcess: Proxies | undefined

/** The proxies of this process. */
export const processProxies = (): Proxies => (ofProcess ??= readProxies(process.env))

/** What sends requests, and what ends its connections. */
export interface Outgoing {
  dispatcher: Dispatcher
  destroy(): Promise<unknown>
}

/**
 * A dispatcher that sends through the proxies what belongs there, and the rest directly. Without proxies, it is `direct`.
 * @param options of the connections through a proxy.
 */
export async function throughProxies(
  direct: Dispatcher,
  options: Pick<ProxyAgent.Options, 'headersTimeout' | 'bodyTimeout' | 'maxHeaderSize'> = {},
  proxies = processProxies(),
): Promise<Outgoing> {
  if (proxies.shown.length === 0) return { dispatcher: direct, destroy: () => direct.destroy() }
  // Loaded only where it is needed (decision 0018). The bundled package has only the default export.
  const { default: undici } = await import('undici')
  const agents = new Map<string, ProxyAgent>()
  const agentOf = (uri: string): ProxyAgent => {
    const agent =
      agents.get(uri) ??
      new undici.ProxyAgent({
        ...options,
        uri,
        // Many proxies refuse to CONNECT to other ports than 443: they forward what is not encrypted.
        proxyTunnel: false,
        // The agent does not pass its options on to the connections on which it forwards.
        factory: (origin, ofAgent) => new undici.Pool(origin, { ...options, ...ofAgent }),
      })
    agents.set(uri, agent)
    return agent
  }
  const dispatcher = direct.compose((dispatch) => (request, handler) => {
    const { origin } = request
    const uri = origin == null ? undefined : proxies.proxyOf(new URL(origin))
    return uri === undefined ? dispatch(request, handler) : agentOf(uri).dispatch(request, handler)
  })
  return {
    dispatcher,
    destroy: () => Promise.all([direct, ...agents.values()].map((agent) => agent.destroy())),
  }
}

/**
 * Makes the requests of libraries, which use Node's own `fetch`, go through the proxies. Call it once, at the start.
 * @throws ProxyError for a variable that names no proxy.
 */
export async function applyProxies(): Promise<Proxies> {
  const proxies = processProxies()
  if (proxies.shown.length > 0) {
    const { default: undici } = await import('undici')
    const { dispatcher } = await throughProxies(undici.getGlobalDispatcher(), {}, proxies)
    undici.setGlobalDispatcher(dispatcher)
  }
  return proxies
}
