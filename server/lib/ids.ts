// Time-ordered unique ids, so that rows created together are adjacent in every index.
import { v7 } from 'uuid'

/** A UUID version 7 (RFC 9562). The caller names the brand that it creates. */
export const newId = <Brand extends string>(): Brand => v7() as Brand // The one place that creates ids.

/** Sorts before every id that is created from `time` on, and after the earlier ones. */
export function firstIdOf(time: Date): string {
  const milliseconds = time.getTime().toString(16).padStart(12, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`
}
