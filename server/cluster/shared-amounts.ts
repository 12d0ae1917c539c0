// Amounts that all instances of a store hold together, counted in Redis; while it does not answer, each one knows its own.
import type { SharedAmounts } from '../lib/limits.ts'

/** What an instance has not renewed for this long is free: it has died. */
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

/** @param run runs a script in Redis; undefined when it does not answer. @param instance names this one. */
export function createSharedAmounts(
  run: (script: string, keys: string[], values: unknown[]) => Promise<unknown>,
  instance: string,
) {
  /** What this instance holds, by its key in Redis. */
  const held = new Map<string, number>()
  const send = (key: string): Promise<unknown> =>
    run(HOLD, [key], [instance, held.get(key) ?? 0, EXPIRE_MS])

  // Also brings back what Redis has lost. What it was not told to be free expires.
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
