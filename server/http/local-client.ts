// Whether a request comes from this machine itself, as far as that can be seen.
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

/** A proxy that adds one of these passes on the request of somebody else. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
]

const LOOPBACK_NAME = /^(localhost|[^/@]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

const isLoopbackUrl = (url: string): boolean =>
  URL.canParse(url) && LOOPBACK_NAME.test(new URL(url).hostname)

/**
 * True for a direct request over the loopback interface, to a loopback name, by a program or a page of this machine. A
 * proxy on this machine that hides all of this (its Host and the client's address) cannot be told apart: whoever runs one
 * sets `public_url`.
 */
export function isLocalRequest({ raw, headers }: FastifyRequest): boolean {
  const address = raw.socket.remoteAddress ?? ''
  return (
    ipaddr.isValid(address) &&
    ipaddr.process(address).range() === 'loopback' &&
    PROXY_HEADERS.every((name) => headers[name] === undefined) &&
    isLoopbackUrl(`http://${headers.host ?? ''}`) &&
    (headers.origin === undefined || isLoopbackUrl(headers.origin))
  )
}
