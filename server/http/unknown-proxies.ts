// Says in the log that a proxy is not trusted: everybody behind it counts as one client.
import type { FastifyInstance } from 'fastify'
import ipaddr from 'ipaddr.js'

/** Addresses that are named in the log, so that many cannot fill it. */
const MAX_NAMED = 20
const PRIVATE = new Set(['private', 'loopback', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/**
 * Logs each private address once from which `X-Forwarded-For` comes although `isProxy` does not name it. Public ones are
 * left out: any client can send that header.
 */
export function warnOfUnknownProxies(
  app: Pick<FastifyInstance, 'addHook' | 'log'>,
  isProxy: (address: string) => boolean,
): void {
  const named = new Set<string>()
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers['x-forwarded-for'] === undefined || named.size >= MAX_NAMED) return
    const address = raw.socket.remoteAddress ?? ''
    if (named.has(address) || !ipaddr.isValid(address) || isProxy(address)) return
    if (!PRIVATE.has(ipaddr.process(address).range())) return
    named.add(address)
    app.log.warn(
      { address },
      'a proxy is not in trusted_proxies: all clients behind it count as one address, also for limits of sign-ins',
    )
  })
}
