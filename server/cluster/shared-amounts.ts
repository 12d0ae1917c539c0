// Amounts that all instances of a store hold together, counted in Redis. While it does not respond, each instance knows
// only its own.
import type { SharedAmounts } from '../lib/limits.ts'

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
export function createSharedAmounts(
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
