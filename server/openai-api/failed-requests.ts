// Remembers requests that failed after retries of their own: programs send them again at once, and need no further retries.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { RunFailure } from '../protocol/runs/run.ts'

/** Programs wait up to half a minute between their attempts. */
const REMEMBERED_MS = 60_000
/** How long a provider that has failed often is left alone. */
const RECENT_MS = 20_000
const MAX_REMEMBERED = 1_000
/** Of longer requests, only the length and the model are compared, so that no time is spent on images. */
const MAX_COMPARED_BYTES = 1_000_000

/** What of a request decides whether it is the same one again. */
export interface SentRequest {
  userId: string
  path: string
  /** The header `content-length`. */
  length: string
  /** What else must be the same. */
  same: { model: string; newest: unknown }
}

/** A request that failed. */
export interface FailedRequest {
  failure: RunFailure
  /** How often the provider was asked. */
  attempts: number
  /** Whether the provider was asked so recently that it need not be asked again. */
  isRecent: boolean
}

/** The memory of one server process. */
export interface FailedRequests {
  /** @param attempts how often the provider was asked this time. */
  add(request: SentRequest, failure: RunFailure, attempts: number): void
  find(request: SentRequest): FailedRequest | undefined
}

/** Creates the memory. It forgets a request after a minute. */
export function createFailedRequests(): FailedRequests {
  const failed = new LRUCache<string, { failure: RunFailure; attempts: number; at: number }>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  })
  return {
    add(request, failure, attempts) {
      const key = keyOf(request)
      const earlier = failed.get(key)?.attempts ?? 0
      failed.set(key, { failure, attempts: earlier + attempts, at: performance.now() })
    },
    find(request) {
      const found = failed.get(keyOf(request))
      if (found === undefined) return undefined
      const { failure, attempts, at } = found
      return { failure, attempts, isRecent: performance.now() - at < RECENT_MS }
    },
  }
}

function keyOf({ userId, path, length, same }: SentRequest): string {
  const { model, newest } = same
  const text = JSON.stringify([model, Number(length) > MAX_COMPARED_BYTES ? null : newest])
  return `${userId} ${path} ${length} ${createHash('sha256').update(text).digest('hex')}`
}
