// Limits that all instances of a store count together in Redis. While it does not respond, each instance counts alone.
import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ATTEMPT_LIMIT, type Attempt, type Limits } from '../lib/limits.ts'
import { createLocalLimits } from '../lib/local-limits.ts'
import { type RedisConnections, within } from './redis.ts'
import { createSharedAmounts } from './shared-amounts.ts'
import { createSharedSlots } from './shared-slots.ts'

/** A request may need several limits. After one without a response, the next ones do not wait. */
const ANSWER_MS = 500
const PAUSE_MS = 2_000

/** One round trip each, so that no two instances count the same allowance twice. */
const TAKE = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then
  local left = redis.call('PTTL', KEYS[1])
  return left > 0 and left or tonumber(ARGV[3])
end
redis.call('INCRBY', KEYS[1], ARGV[1])
if used == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 0`

/** The rules of `createAttemptCounts`. Returns the milliseconds of a refusal, or the window of each key. */
const BEGIN = `
local max = tonumber(ARGV[1])
local function read(key)
  local found = redis.call('HMGET', key, 'count', 'undecided')
  return tonumber(found[1] or '0'), tonumber(found[2] or '0')
end
local function refusal(key)
  local count, undecided = read(key)
  return count - undecided < max and 1000 or redis.call('PTTL', key)
end
if read(KEYS[1]) >= max then return refusal(KEYS[1]) end
if read(KEYS[2]) >= max and read(KEYS[3]) > 0 then return refusal(KEYS[2]) end
local windows = {}
for index, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, 'count', 1)
  redis.call('HINCRBY', key, 'undecided', 1)
  if redis.call('HSETNX', key, 'window', ARGV[3]) == 1 then redis.call('PEXPIRE', key, ARGV[2]) end
  windows[index] = redis.call('HGET', key, 'window')
end
return windows`

const DECIDE = `
for index, key in ipairs(KEYS) do
  if redis.call('HGET', key, 'window') == ARGV[index + 1] then
    local undecided = redis.call('HINCRBY', key, 'undecided', -1)
    if ARGV[1] ~= 'failed' then redis.call('HINCRBY', key, 'count', -1) end
    if ARGV[1] == 'succeeded' and index > 1 then redis.call('HSET', key, 'count', undecided) end
  end
end`

const Begun = z.union([z.number(), z.tuple([z.string(), z.string(), z.string()])])

/** While Redis does not respond, each instance counts alone. */
export function createSharedLimits({
  redis,
  namespace,
  now = () => performance.now(),
}: {
  redis: Pick<RedisConnections, 'commands' | 'isReady'>
  namespace: string
  /** Milliseconds of a monotonic clock. */
  now?(): number
}): Limits & { close(): void } {
  const alone = createLocalLimits()
  let pausedUntil = Number.NEGATIVE_INFINITY
  // Names and addresses may have any length, and nobody needs to read them in Redis.
  const keyOf = (...parts: string[]): string =>
    `${namespace}:limit:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`

  /** Undefined if Redis does not respond in time, which `redis` reports. */
  async function run(script: string, keys: string[], values: unknown[]): Promise<unknown> {
    if (!redis.isReady || now() < pausedUntil) return undefined
    try {
      return await within(
        ANSWER_MS,
        redis.commands.eval(script, keys.length, ...keys, ...values.map(String)),
      )
    } catch {
      pausedUntil = now() + PAUSE_MS
      return undefined
    }
  }

  const shared = createSharedSlots(run, randomUUID)
  const held = createSharedAmounts(run, randomUUID())

  return {
    close() {
      shared.close()
      held.close()
    },
    amounts: (name) => held.amounts((key) => keyOf('amounts', name, key)),
    slots: (name, limit) =>
      shared.slots(alone.slots(name, limit), (key) => keyOf('slots', name, key)),
    rateLimit(name, options) {
      const local = alone.rateLimit(name, options)
      return {
        async take(key, weight = 1, limit = options.limit) {
          const left = await run(TAKE, [keyOf(name, key)], [weight, limit, options.windowMs])
          if (typeof left !== 'number') return local.take(key, weight, limit)
          return left === 0 ? null : Math.max(1, Math.ceil(left / 1000))
        },
      }
    },
    attempts: {
      async begin(source, target) {
        const keys = [keyOf('s', source), keyOf('t', target), keyOf('b', source, target)]
        const values = [ATTEMPT_LIMIT.failures, ATTEMPT_LIMIT.windowMs, randomUUID()]
        const begun = Begun.safeParse(await run(BEGIN, keys, values))
        if (!begun.success) return alone.attempts.begin(source, target)
        if (typeof begun.data === 'number')
          return { retryAfterSeconds: Math.max(1, Math.ceil(begun.data / 1000)) }
        const windows = begun.data
        let isOpen = true
        // Not awaited: a lost outcome counts as a failure until its window ends.
        const decide = (outcome: keyof Attempt) => (): void => {
          if (isOpen) void run(DECIDE, keys, [outcome, ...windows])
          isOpen = false
        }
        return {
          succeeded: decide('succeeded'),
          failed: decide('failed'),
          withdraw: decide('withdraw'),
        }
      },
    },
  }
}
