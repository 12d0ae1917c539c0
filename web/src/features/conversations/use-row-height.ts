// Measures the height of a row of the conversation list, which depends on text size, density and the pointer.
import { type RefObject, useLayoutEffect, useState } from 'react'

/** The height in pixels. `probe` is an element with the height of a row. */
export function useRowHeight(probe: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(36)
  useLayoutEffect(() => {
    const element = probe.current
    if (element === null) return
    const measure = (): void => setHeight(element.offsetHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [probe])
  return height
}
