// Limits that all instances of a store count together in Redis. While it does not respond, each instance counts alone.
import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  ATTEMPT_LIMIT,
  type Attempt,
  type Limits,
  type SharedAmounts,
  type Slots,
} from '../lib/limits.ts'
import { createLocalLimits } from '../lib/local-limits.ts'
import { type RedisConnections, within } from './redis.ts'

// Slots that all instances of a store count together in Redis. While it does not respond, each instance counts its own.

/** A slot that was not renewed for this long is free, because its instance has died. */
const SLOT_EXPIRE_MS = 20_000
const SLOT_RENEW_EVERY_MS = 5_000
/** Slots that one command renews. */
const RENEWED_AT_ONCE = 500

/** A set of slots by the time at which they expire, by the clock of Redis. */
const TAKE_SLOT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`

const RENEW = `
local time = redis.call('TIME')
local expires = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], expires, ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`

const GIVE_BACK = `return redis.call('ZREM', KEYS[1], unpack(ARGV))`

/**
 * @param run runs a script in Redis; resolves to undefined if it does not respond. @param newId creates the id of a slot.
 */
function createSharedSlots(
  run: (script: string, keys: string[], values: unknown[]) => Promise<unknown>,
  newId: () => string,
) {
  /** The slots that this instance has taken, by their key in Redis. */
  const taken = new Map<string, Set<string>>()
  /** Slots that were released, but not in Redis yet. */
  const freed = new Map<string, Set<string>>()

  /** Releases a limited number at once; the rest expire. */
  async function giveBack(key: string): Promise<void> {
    const names = [...(freed.get(key) ?? [])].slice(0, RENEWED_AT_ONCE)
    freed.delete(key)
    if (names.length === 0 || (await run(GIVE_BACK, [key], names)) !== undefined) return
    const missed = freed.get(key) ?? new Set()
    for (const name of names) missed.add(name)
    freed.set(key, missed)
  }

  // Also restores what Redis has lost, and reports slots that were taken without it.
  const renew = async (): Promise<void> => {
    for (const key of [...freed.keys()]) await giveBack(key)
    for (const [key, slots] of taken) {
      const names = [...slots]
      for (let from = 0; from < names.length; from += RENEWED_AT_ONCE) {
        // Without those that were released in the meantime.
        const due = names.slice(from, from + RENEWED_AT_ONCE).filter((name) => slots.has(name))
        if (due.length > 0) await run(RENEW, [key], [SLOT_EXPIRE_MS, ...due])
      }
    }
  }
  let isRenewing = false
  const timer = setInterval(() => {
    if (isRenewing) return
    isRenewing = true
    void renew().finally(() => {
      isRenewing = false
    })
  }, SLOT_RENEW_EVERY_MS)
  timer.unref()

  return {
    /** @param local counts the slots of this instance, and decides alone while Redis is unreachable. */
    slots: (local: Slots, keyOf: (key: string) => string): Slots => ({
      limit: local.limit,
      async acquire(of) {
        const release = await local.acquire(of)
        if (release === null) return null
        const key = keyOf(of)
        const slot = newId()
        if ((await run(TAKE_SLOT, [key], [local.limit, SLOT_EXPIRE_MS, slot])) === 0) {
          release()
          return null
        }
        const own = taken.get(key) ?? new Set()
        taken.set(key, own.add(slot))
        return () => {
          if (!own.delete(slot)) return
          release()
          if (own.size === 0 && taken.get(key) === own) taken.delete(key)
          // Not awaited: what Redis does not receive now, it receives at the next renewal.
          freed.set(key, (freed.get(key) ?? new Set()).add(slot))
          void giveBack(key)
        }
      },
    }),
    close: () => clearInterval(timer),
  }
}

// Amounts that all instances of a store hold together, counted in Redis. While it does not respond, each instance knows
// only its own.

/** An amount that an instance has not renewed for this long is free, because the instance has died. */
const EXPIRE_MS = 20_000
const RENEW_EVERY_MS = 5_000

/** A hash of `<amount> <time at which it expires, by the clock of Redis>` by instance. Returns what the others hold. */
const HOLD = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = 0
local held = redis.call('HGETALL', KEYS[1])
for index = 1, #held, 2 do
  local amount, expires = string.match(held[index + 1], '^(%d+) (%d+)$')
  if tonumber(expires) <= now then redis.call('HDEL', KEYS[1], held[index])
  elseif held[index] ~= ARGV[1] then others = others + amount end
end
if ARGV[2] == '0' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', now + ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return others`

/**
 * @param run runs a script in Redis; resolves to undefined if it does not respond. @param instance identifies this
 * instance.
 */
function createSharedAmounts(
  run: (script: string, keys: string[], values: unknown[]) => Promise<unknown>,
  instance: string,
) {
  /** What this instance holds, by its key in Redis. */
  const held = new Map<string, number>()
  const send = (key: string): Promise<unknown> =>
    run(HOLD, [key], [instance, held.get(key) ?? 0, EXPIRE_MS])

  // Also restores what Redis has lost. Amounts that Redis does not know to be free expire.
  const timer = setInterval(() => {
    for (const key of held.keys()) void send(key)
  }, RENEW_EVERY_MS)
  timer.unref()

  return {
    amounts: (keyOf: (key: string) => string): SharedAmounts => ({
      async hold(of, amount) {
        const key = keyOf(of)
        if (amount > 0) held.set(key, amount)
        else held.delete(key)
        const others = await send(key)
        return typeof others === 'number' ? others : 0
      },
    }),
    close: () => clearInterval(timer),
  }
}

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
        async acquire(key, weight = 1, limit = options.limit) {
          const left = await run(TAKE, [keyOf(name, key)], [weight, limit, options.windowMs])
          if (typeof left !== 'number') return local.acquire(key, weight, limit)
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
