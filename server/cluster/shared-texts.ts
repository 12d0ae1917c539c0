// Texts that instances share in Redis for a while, each under a key of its own.
import { createHash } from 'node:crypto'
import type { SharedTexts } from '../lib/shared-texts.ts'
import { type RedisConnections, within } from './redis.ts'

/** Longer texts stay with the instance that has them. */
const MAX_CHARACTERS = 200_000
/** Waiting longer would take more time than repeating the work. */
const ANSWER_MS = 300

/** While Redis is unreachable, there are none. */
export function createSharedTexts(
  redis: Pick<RedisConnections, 'commands' | 'isReady'>,
  namespace: string,
): SharedTexts {
  // Keys may have any length, and nobody needs to read them in Redis.
  const keyOf = (key: string): string =>
    `${namespace}:text:${createHash('sha256').update(key).digest('base64url')}`
  return {
    async get(key) {
      if (!redis.isReady) return undefined
      const found = within(ANSWER_MS, redis.commands.get(keyOf(key)))
      return (await found.catch(() => null)) ?? undefined
    },
    set(key, text, lifetimeMs) {
      if (!redis.isReady || text.length > MAX_CHARACTERS) return
      redis.commands.set(keyOf(key), text, 'PX', lifetimeMs).catch(() => undefined)
    },
  }
}
