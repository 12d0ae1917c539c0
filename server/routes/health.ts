// Liveness and readiness checks for process supervisors and load balancers.

import { z } from 'zod'
import { appError } from '../errors.ts'
import type { App } from '../http/app.ts'
import { answerProbe, PROBE_HEADER, SEEN_HEADER } from '../lib/reach-probe.ts'
import { envelope } from '../protocol/envelope.ts'
import type { Services } from '../services.ts'

const HealthState = z.object({
  status: z.literal('ok').describe('Always `ok`; any other state is an error.'),
  version: z.string().describe('The version of the server.'),
})
const Health = envelope(HealthState)

const Readiness = envelope(
  HealthState.extend({
    redis: z
      .enum(['available', 'unavailable'])
      .optional()
      .describe(
        'Only with `redis_url`: whether Redis responds. Without it, the server works, but more slowly between instances.',
      ),
  }),
)

const PING_TIMEOUT_MS = 3000

/** `GET /healthz`: the process responds. `GET /readyz`: it can serve requests, otherwise 503. */
export function registerHealthRoutes(
  app: App,
  {
    version,
    chat,
    database,
    redisState,
    installationId,
  }: Pick<Services, 'version' | 'chat' | 'database' | 'redisState' | 'installationId'>,
): void {
  const ok = { code: 0 as const, data: { status: 'ok' as const, version } }
  app.get(
    '/healthz',
    { schema: { summary: 'Check liveness', tags: ['server'], response: { 200: Health } } },
    async (request, reply) => {
      // The doctor asks through the public address what arrives here.
      const seen = answerProbe(installationId, request.headers[PROBE_HEADER], {
        address: request.ip,
        peer: request.socket.remoteAddress ?? '',
        host: request.headers.host ?? '',
        isForwarded: request.headers['x-forwarded-for'] !== undefined,
      })
      if (seen !== null) reply.header(SEEN_HEADER, seen)
      return ok
    },
  )
  app.get(
    '/readyz',
    {
      schema: { summary: 'Check readiness', tags: ['server'], response: { 200: Readiness } },
    },
    async () => {
      if (chat.runs.isDraining) throw appError('shutting_down', {}, { retryAfter: 5 })
      await Promise.race([database.ping(), rejectAfter(PING_TIMEOUT_MS)]).catch(
        (cause: unknown) => {
          throw appError('store_unanswered', {}, { cause, retryAfter: 5 })
        },
      )
      const redis = redisState()
      return redis === undefined ? ok : { ...ok, data: { ...ok.data, redis } }
    },
  )
}

const rejectAfter = (milliseconds: number): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('no response in time')), milliseconds).unref()
  })
