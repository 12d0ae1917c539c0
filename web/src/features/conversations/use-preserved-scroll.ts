// Keeps the visible rows in place when rows are added or removed above them.
import { useLayoutEffect, useRef } from 'react'

type Seen = { starts: ReadonlyMap<string, number>; keys: readonly string[] }

/** With a smaller scroll offset the list counts as at its top, where new rows should appear. */
const TOP_PIXELS = 8

const MAX_FRAMES = 10

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/**
 * `keys` are those of the rows in view, most of which stay in view. `starts` has the offset of each row in pixels, a new
 * map after each change of the list. `offset` returns the scroll offset in pixels.
 */
export function usePreservedScroll(
  starts: ReadonlyMap<string, number>,
  keys: readonly string[],
  { offset, scrollTo }: { offset: () => number; scrollTo: (offset: number) => void },
): void {
  const seen = useRef<Seen>({ starts, keys })
  useLayoutEffect(() => {
    const before = seen.current
    seen.current = { starts, keys }
    if (before.starts === starts || offset() < TOP_PIXELS) return
    // One row may have moved elsewhere; the others have moved by the same distance.
    const distances = before.keys.flatMap((key) => {
      const was = before.starts.get(key)
      const is = starts.get(key)
      return was === undefined || is === undefined ? [] : [is - was]
    })
    const distance = median(distances)
    if (distance === 0) return
    const target = offset() + distance
    const follow = (frames: number): void => {
      scrollTo(target)
      // At the very end, the list becomes long enough only in one of the next frames.
      if (offset() < target - 1 && frames > 0) requestAnimationFrame(() => follow(frames - 1))
    }
    follow(MAX_FRAMES)
  })
}
