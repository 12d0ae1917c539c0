// A result for a text that grows, made from the result for what was there before.
import { useState } from 'react'

type Grow<Result> = (before: Result | null) => Result

/**
 * Remembers the last result, so that the next one repeats only what has changed.
 * @param grow returns the same whatever earlier result it is given: a render that React repeats or discards changes nothing.
 */
export function useGrown<Result>(grow: Grow<Result>): Result {
  const [results] = useState(() => createResults<Result>())
  return results.next(grow)
}

function createResults<Result>(): { next(grow: Grow<Result>): Result } {
  let last: Result | null = null
  return {
    next(grow) {
      const result = grow(last)
      last = result
      return result
    },
  }
}
