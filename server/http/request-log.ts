// Log lines of requests: each at `debug`, refused ones at `info`, failed sign-ins at `warn`. No line contains a secret or a text.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../protocol/error.ts'
import type { FailureReason } from '../protocol/failures.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was refused; undefined if it was not. */
    refusal?: FailureReason | ErrorCode
  }
}

type Log = Pick<FastifyInstance, 'log'>

/** Parameters of paths that are shown: identifiers. Others are tokens of shares, or names that people chose. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set([
  'id',
  'mid',
  'bid',
  'cid',
  'did',
  'user_id',
  'session_id',
  'position',
])
/** A segment of an unknown path that is shown. Longer ones may be tokens. */
const PLAIN_SEGMENT = /^[a-z][a-z0-9._-]{0,15}$/i
const SHOWN_SEGMENTS = 4
const MAX_SHOWN_CHARACTERS = 64

/**
 * Logs every request when its response has ended, with the reason of its refusal if it has one. Failures of the server itself
 * (500 and above) have a line of their own, with the cause.
 */
export function logRequests(app: Log & Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const { refusal: reason } = request
    if (reply.statusCode >= 400 && reply.statusCode < 500)
      request.log.info(
        { ...lineOf(request, reply), ...(reason === undefined ? {} : { reason }) },
        'request refused',
      )
    else if (logsEveryRequest(app)) request.log.debug(lineOf(request, reply), 'request')
  })
}

/**
 * Logs a failed sign-in for programs that ban addresses. The format is documented: the address is the first field after the id of the request.
 * @param account the name of an existing account; null if there is none with the name, because people type passwords into that field.
 * @param by the way of signing in, if it is none in which somebody can guess.
 */
export function logFailedSignIn(
  { log, ip }: Pick<FastifyRequest, 'log' | 'ip'>,
  { account, by }: { account: string | null; by?: string },
): void {
  log.warn({ address: ip, account, ...(by === undefined ? {} : { by }) }, 'sign-in failed')
}

/** Most installations do not log every request, so their lines are not even built. */
const logsEveryRequest = ({ log }: Log): boolean => log.level === 'debug' || log.level === 'trace'

/** The user is missing on public routes, whatever its type says. */
const lineOf = (request: FastifyRequest, reply: FastifyReply): Record<string, unknown> => {
  const sender: typeof request.user | undefined = request.user
  return {
    method: request.method,
    path: shownPath(request),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime),
    address: request.ip,
    ...(sender === undefined || sender === null ? {} : { user_id: sender.id }),
    ...(reply.raw.writableFinished ? {} : { left: true }),
  }
}

/**
 * The path as far as it is no secret: the route with its identifiers. Queries are left out, because people search in them, and
 * tokens and names of files stay parameters.
 */
function shownPath({ routeOptions, params, url }: FastifyRequest): string {
  const pattern = routeOptions.url
  if (pattern === undefined || pattern === '/*') return shownSegments(url)
  return pattern.replace(/:(\w+)/g, (parameter, name: string) =>
    SHOWN_PARAMETERS.has(name) ? shownParameter(params, name, parameter) : parameter,
  )
}

function shownParameter(params: unknown, name: string, parameter: string): string {
  const value: unknown =
    typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return typeof value === 'string' && /^[\w.-]+$/.test(value)
    ? value.slice(0, MAX_SHOWN_CHARACTERS)
    : parameter
}

function shownSegments(url: string): string {
  const segments = (url.split(/[?#]/, 1)[0] ?? '').split('/').slice(1)
  const shown = segments
    .slice(0, SHOWN_SEGMENTS)
    .map((segment) => (segment === '' || PLAIN_SEGMENT.test(segment) ? segment : '…'))
  return `/${shown.join('/')}${segments.length > SHOWN_SEGMENTS ? '/…' : ''}`
}
