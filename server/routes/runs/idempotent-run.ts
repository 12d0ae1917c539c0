// Starts the run of a request once, however often the request is sent with the same Idempotency-Key.
import type { FastifyRequest } from 'fastify'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { appError } from '../../errors.ts'

/**
 * Starts a run with `start`, or returns the one that an earlier request with the same key started. For routes with
 * `config.joinsRun`.
 */
export async function startOnce(
  request: Pick<FastifyRequest, 'idempotentRunId' | 'bindRun' | 'user'>,
  { runs }: Pick<Store, 'runs'>,
  start: () => Promise<RunRow>,
): Promise<RunRow> {
  if (request.idempotentRunId === null) {
    const run = await start()
    await request.bindRun(run.id)
    return run
  }
  const run = await runs.findOwned(request.user.id, request.idempotentRunId)
  // Its conversation was deleted meanwhile.
  if (run === undefined) throw appError('idempotency_body_gone')
  return run
}
