// The origin of apps: a port or host of its own, so that the browser separates them from the page.

/** Where apps are served. */
export interface AppsOrigin {
  /** Set when the port of apps is open; null before, and if there is none. */
  port: number | null
  /**
   * The origin of apps for a page on this host; null if there is none. `protocol` is that of the request, `hostname` has no
   * port.
   */
  of(request: { protocol: string; hostname: string }): string | null
  /** The other way round: origins that the page may have for a request to the origin of apps, without paths. */
  pagesOf(request: { protocol: string; hostname: string }): string[]
}

/** An origin that a page can have. */
export const PAGE_ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

const HOSTNAME = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]+\])$/i
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * @param url the configured origin, if apps are behind a reverse proxy.
 * @param publicUrl its scheme is that of the page.
 * @param pagePort the port of the page, if there is no `publicUrl`.
 */
export function createAppsOrigin({
  url,
  publicUrl,
  pagePort,
}: {
  url: string | undefined
  publicUrl: string | undefined
  pagePort: number
}): AppsOrigin {
  const schemeOf = (protocol: string): string =>
    (publicUrl === undefined ? protocol : new URL(publicUrl).protocol.slice(0, -1)) === 'https'
      ? 'https'
      : 'http'
  const origin: AppsOrigin = {
    port: null,
    of({ protocol, hostname }) {
      if (origin.port === null) return null
      if (url !== undefined) return url
      if (!HOSTNAME.test(hostname)) return null
      return `${schemeOf(protocol)}://${otherLoopbackName(hostname)}:${origin.port}`
    },
    pagesOf({ protocol, hostname }) {
      if (publicUrl !== undefined) return [new URL(publicUrl).origin]
      if (!HOSTNAME.test(hostname)) return []
      const names = new Set([hostname, otherLoopbackName(hostname)])
      return [...names].map((name) => `${schemeOf(protocol)}://${name}:${pagePort}`)
    },
  }
  return origin
}

/** On loopback, the other name: cookies are shared by all ports of a host, and so not with apps. */
function otherLoopbackName(hostname: string): string {
  const name = hostname.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost')) return '127.0.0.1'
  return LOOPBACK.test(name) ? 'localhost' : name
}
