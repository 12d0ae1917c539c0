// Slots that all instances of a store count together in Redis. While it does not respond, each instance counts its own.
import type { Slots } from '../lib/limits.ts'

/** A slot that was not renewed for this long is free, because its instance has died. */
const EXPIRE_MS = 20_000
const RENEW_EVERY_MS = 5_000
/** Slots that one command renews. */
const RENEWED_AT_ONCE = 500

/** A set of slots by the time at which they expire, by the clock of Redis. */
const TAKE = `
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
export function createSharedSlots(
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
        if (due.length > 0) await run(RENEW, [key], [EXPIRE_MS, ...due])
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
  }, RENEW_EVERY_MS)
  timer.unref()

  return {
    /** @param local counts the slots of this instance, and decides alone while Redis is unreachable. */
    slots: (local: Slots, keyOf: (key: string) => string): Slots => ({
      limit: local.limit,
      async take(of) {
        const release = await local.take(of)
        if (release === null) return null
        const key = keyOf(of)
        const slot = newId()
        if ((await run(TAKE, [key], [local.limit, EXPIRE_MS, slot])) === 0) {
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
