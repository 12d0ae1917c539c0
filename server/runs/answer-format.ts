// What checks an answer against the form that a program requires.
import { appError } from '../errors.ts'
import { isRecord } from '../lib/records.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'
import type { CheckJob, CheckReply } from './answer-check.child.ts'

/** Resolves to what is wrong with a value as a sentence for the model; null if nothing is. */
export type AnswerCheck = (value: unknown) => Promise<string | null>

/** The thread ends work by itself much earlier, unless others keep it busy. */
const TIMEOUT_MS = 10_000
const START_TIMEOUT_MS = 30_000
const IDLE_MS = 10 * 60_000
const MAX_MEMORY_MB = 256
/** A thread that ends because of a schema ends the requests of others, too, which are then sent again. */
const MAX_TRIES = 2

/** One thread for all runs of this process. */
const thread = createWorkerClient<CheckJob, CheckReply>('runs/answer-check.child', {
  worker: { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB }, env: {} },
  startTimeoutMs: START_TIMEOUT_MS,
  idleMs: IDLE_MS,
  timeoutError: () => new Error('The schema takes too long'),
})

/** The reply of the thread; null if it has ended each time. */
async function ask(job: CheckJob): Promise<CheckReply | null> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1)
    try {
      return await thread.request(job, { timeoutMs: TIMEOUT_MS })
    } catch {
      // The next request starts a new thread.
    }
  return null
}

/**
 * Compiles the check.
 * @throws AppError if the schema is no JSON Schema, or takes too long to read.
 */
export async function createAnswerCheck(format: AnswerFormat): Promise<AnswerCheck> {
  if (format.type === 'json_object')
    return async (value) => (isRecord(value) ? null : 'It is not a JSON object.')
  const schema = JSON.stringify(format.schema)
  const reply = await ask({ schema })
  if (reply === null)
    throw appError('answer_schema_invalid', { detail: 'it takes too long to read' })
  if ('refused' in reply) throw appError('answer_schema_invalid', { detail: reply.refused })
  return async (value) => {
    const checked = await ask({ schema, value: JSON.stringify(value) })
    return checked !== null && 'fault' in checked
      ? checked.fault
      : 'It cannot be checked against the schema in time.'
  }
}
