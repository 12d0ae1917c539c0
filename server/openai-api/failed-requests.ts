// Remembers requests that failed after retries of their own: programs send them again at once, and need no further retries.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { RunFailure } from '../protocol/runs/run.ts'

/** Programs wait up to a minute between their attempts. */
const REMEMBERED_MS = 90_000
/** How long a provider that has failed often is left alone at least. */
const RECENT_MS = 20_000
/** Programs wait longer each time: the longest pause so far, times this, tells their next attempt from that of a person. */
const PAUSE_GROWTH = 4
/** How long a provider is left alone at most: a person who goes on trying must get through. */
const LONGEST_MS = 180_000
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
  /** Whether the request comes from a program that goes on repeating it, so that the provider need not be asked again. */
  isRecent: boolean
  /** The shortest time after which the request came again so far, in milliseconds. */
  shortestPauseMs: number
}

/** The memory of one server process. */
export interface FailedRequests {
  /** @param attempts how often the provider was asked this time. */
  add(request: SentRequest, failure: RunFailure, attempts: number): void
  find(request: SentRequest): FailedRequest | undefined
}

interface Remembered {
  failure: RunFailure
  attempts: number
  /** When the provider failed. */
  askedAt: number
  /** When the request was answered last, also from this memory. */
  answeredAt: number
  /** The longest time that the program has waited before it sent the request again. */
  pause: number
  shortestPause: number
}

/**
 * Creates the memory. It forgets a request after a minute and a half.
 * @param now the time in milliseconds, which only grows.
 */
export function createFailedRequests(now: () => number = () => performance.now()): FailedRequests {
  const failed = new LRUCache<string, Remembered>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    perf: { now },
    ttlResolution: 0,
  })
  return {
    add(request, failure, attempts) {
      const key = keyOf(request)
      const earlier = failed.get(key)
      failed.set(key, {
        failure,
        attempts: (earlier?.attempts ?? 0) + attempts,
        askedAt: now(),
        answeredAt: now(),
        pause: earlier?.pause ?? 0,
        shortestPause: earlier?.shortestPause ?? Number.POSITIVE_INFINITY,
      })
    },
    find(request) {
      const key = keyOf(request)
      const found = failed.get(key)
      if (found === undefined) return undefined
      const pause = now() - found.answeredAt
      const isRecent =
        pause < Math.max(RECENT_MS, PAUSE_GROWTH * found.pause) &&
        now() - found.askedAt < LONGEST_MS
      const shortestPause = Math.min(pause, found.shortestPause)
      failed.set(key, {
        ...found,
        answeredAt: now(),
        pause: Math.max(pause, found.pause),
        shortestPause,
      })
      const { failure, attempts } = found
      return { failure, attempts, isRecent, shortestPauseMs: shortestPause }
    },
  }
}

function keyOf({ userId, path, length, same }: SentRequest): string {
  const { model, newest } = same
  const text = JSON.stringify([model, Number(length) > MAX_COMPARED_BYTES ? null : newest])
  return `${userId} ${path} ${length} ${createHash('sha256').update(text).digest('hex')}`
}
