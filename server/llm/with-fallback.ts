// Wraps several clients: tries the next model if one fails before its first output.
import type { AppError } from '../errors.ts'
import type { LlmClient, LlmEvent } from './client.ts'

/** A model to try. */
export interface FallbackCandidate {
  /** The model's name for people. */
  name: string
  client: LlmClient
}

/** Tries the models in order. A failure after the first output is final, so that no output is repeated. */
export function withFallback(
  first: FallbackCandidate,
  others: readonly FallbackCandidate[],
): LlmClient {
  if (others.length === 0) return first.client
  const candidates = [first, ...others]
  return {
    async *stream(request) {
      for (const [index, candidate] of candidates.entries()) {
        const next = candidates[index + 1]
        let hasOutput = false
        let failed = false
        for await (const batch of candidate.client.stream(request)) {
          const only = batch.length === 1 ? batch[0] : undefined
          const canSwitch = !hasOutput && !request.signal.aborted
          if (canSwitch && next !== undefined && only?.type === 'failed') {
            failed = true
            yield [passedOn(index + 1, only.error, next.name)]
            continue
          }
          hasOutput ||= batch.some((event) => event.type !== 'retrying')
          yield batch
        }
        if (!failed) return
      }
    },
  }
}

const passedOn = (attempt: number, error: AppError, nextModel: string): LlmEvent => ({
  type: 'retrying',
  attempt,
  delayMs: 0,
  error,
  nextModel,
})
