// Keeps what a reader looks at in place when rows are added or removed above it.
import { useLayoutEffect, useRef } from 'react'

type Seen = { starts: ReadonlyMap<string, number>; keys: readonly string[] }

/** Scrolled less than this, the list is at its top, where new rows are to be seen. */
const TOP_PX = 8

const FRAMES = 10

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/**
 * @param keys of the rows in view; most of them stay in view.
 * @param starts where each row of the list begins, in pixels; a new map when the list has changed.
 * @param offset how far the list is scrolled, in pixels.
 */
export function useKeptPlace(
  starts: ReadonlyMap<string, number>,
  keys: readonly string[],
  { offset, scrollTo }: { offset: () => number; scrollTo: (offset: number) => void },
): void {
  const seen = useRef<Seen>({ starts, keys })
  useLayoutEffect(() => {
    const before = seen.current
    seen.current = { starts, keys }
    if (before.starts === starts || offset() < TOP_PX) return
    // One row may have moved away; the others moved by the same distance.
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
      // At its very end, the list only becomes long enough with one of the next frames.
      if (offset() < target - 1 && frames > 0) requestAnimationFrame(() => follow(frames - 1))
    }
    follow(FRAMES)
  })
}
