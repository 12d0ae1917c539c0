// Detects whether a request comes from this machine, as far as possible.
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

/** A proxy that adds one of these headers forwards somebody else's request. */
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
 * True for a direct request over the loopback interface, to a loopback name, by a program or page on this machine. A proxy
 * on this machine that hides all of this (its Host and the client's address) cannot be detected, so operators of one set
 * `public_url`.
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
