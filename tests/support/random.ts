// Random choices that can be made again: every random test names its seed, and takes one from the environment as SEED.

export interface Random {
  /** From 0 up to, but not including, 1. */
  share(): number
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** The same choices for the same seed, on every machine (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const share = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(share() * limit)
  return {
    share,
    below,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    shuffle(items) {
      const left = [...items]
      return items.flatMap(() => left.splice(below(left.length), 1))
    },
  }
}

/** The seed of a file's random tests: the one in the environment, else a new one. It belongs in the test's name. */
export const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

/** `count` rounds of a random test. `what` belongs in every message: `SEED=… ` runs the failing round first. */
export function* rounds(count: number): Generator<{ random: Random; what: string }> {
  for (let round = 0; round < count; round += 1)
    yield { random: randomFrom(SEED + round), what: `SEED=${SEED + round}` }
}
