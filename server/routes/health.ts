// Liveness and readiness checks for process supervisors and load balancers.
import { z } from 'zod'
import { appError } from '../errors.ts'
import type { App } from '../http/app.ts'
import { envelope } from '../protocol/envelope.ts'

const Health = envelope(
  z.object({ status: z.literal('ok').describe('Always `ok`; any other state is an error.') }),
)
const ok = { code: 0 as const, data: { status: 'ok' as const } }

/** The dependencies of the health checks. */
export interface HealthDependencies {
  /** Whether the process is shutting down and accepts no new work. */
  isDraining(): boolean
  /** Rejects when the database does not respond. */
  pingStore(): Promise<void>
}

const PING_TIMEOUT_MS = 3000

/** `GET /healthz`: the process responds. `GET /readyz`: it can serve requests, otherwise 503. */
export function registerHealthRoutes(
  app: App,
  { isDraining, pingStore }: HealthDependencies,
): void {
  app.get(
    '/healthz',
    { schema: { summary: 'Check liveness', tags: ['server'], response: { 200: Health } } },
    async () => ok,
  )
  app.get(
    '/readyz',
    {
      schema: { summary: 'Check readiness', tags: ['server'], response: { 200: Health } },
    },
    async () => {
      if (isDraining()) throw appError('shutting_down', {}, { retryAfter: 5 })
      await Promise.race([pingStore(), rejectAfter(PING_TIMEOUT_MS)]).catch((cause: unknown) => {
        throw appError('store_unanswered', {}, { cause, retryAfter: 5 })
      })
      return ok
    },
  )
}

const rejectAfter = (milliseconds: number): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('no response in time')), milliseconds).unref()
  })
