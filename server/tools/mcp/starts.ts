// The order in which programs of MCP servers start: a few at a time, because each takes seconds of computing time.
import { START_SLOT_MS, STARTS_AT_ONCE } from './timing.ts'

/**
 * Lets a few programs start at a time: those that failed before wait for those that were never tried.
 * @returns waits until a program may start, and resolves with what must be called once it has started. One that takes long
 *   no longer keeps others from starting.
 */
export function createStarts(): (isFirst: boolean) => Promise<() => void> {
  const first: (() => void)[] = []
  const again: (() => void)[] = []
  let starting = 0
  const next = (): void => {
    const begin = starting < STARTS_AT_ONCE ? (first.shift() ?? again.shift()) : undefined
    if (begin === undefined) return
    starting += 1
    begin()
  }
  return (isFirst) =>
    new Promise((resolve) => {
      const begin = (): void => {
        const end = (): void => {
          if (timer === undefined) return
          clearTimeout(timer)
          timer = undefined
          starting -= 1
          next()
        }
        let timer: NodeJS.Timeout | undefined = setTimeout(end, START_SLOT_MS).unref()
        resolve(end)
      }
      const waiting = isFirst ? first : again
      waiting.push(begin)
      next()
    })
}
