// A client that tries the next model when one fails before its first output.
import type { LlmClient, LlmEvent } from './client.ts'

/** A model in the order in which they are tried. */
export interface FallbackCandidate {
  /** The model's name for people. */
  name: string
  client: LlmClient
}

/** Nothing that reached the client is repeated: a failure after the first output is final. */
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
        let given = false
        let failed = false
        for await (const batch of candidate.client.stream(request)) {
          const only = batch.length === 1 ? batch[0] : undefined
          if (!given && next !== undefined && only?.type === 'failed' && !request.signal.aborted) {
            failed = true
            yield [passedOn(index + 1, only.error.message, next.name)]
            continue
          }
          given ||= batch.some((event) => event.type !== 'retrying')
          yield batch
        }
        if (!failed) return
      }
    },
  }
}

const passedOn = (attempt: number, reason: string, next: string): LlmEvent => ({
  type: 'retrying',
  attempt,
  delayMs: 0,
  reason: `${reason} Asking "${next}" instead.`,
})
