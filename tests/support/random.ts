// Reproducible random choices: every random test has its seed in its name and reads it from the variable SEED.

export interface Random {
  /** A number in [0, 1). */
  share(): number
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** A generator (mulberry32) that makes the same choices for the same seed on every machine. */
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

/** The seed of a file's random tests: `SEED` from the environment, or a random one. Include it in the test name. */
export const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Yields `count` rounds of a random test. Put `what` into every assertion message: its seed runs that round first. */
export function* rounds(count: number): Generator<{ random: Random; what: string }> {
  for (let round = 0; round < count; round += 1)
    yield { random: randomFrom(SEED + round), what: `SEED=${SEED + round}` }
}
