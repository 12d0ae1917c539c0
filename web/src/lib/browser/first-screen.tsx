// Signals when the first screen is complete. Everything else (fonts, toasts, later code) waits for it so as not to compete for bandwidth.
import { useEffect } from 'react'

let complete = (): void => undefined

/** Resolves once there is something to read or a field to type in, or a notice that cannot wait. */
export const firstScreen = new Promise<void>((resolve) => {
  complete = resolve
})

/** Marks the first screen as complete; everything that waits proceeds. */
export const endFirstScreen = (): void => complete()

/** Marks the first screen as complete once mounted. Render it next to the content of a page. */
export function FirstScreenReady() {
  useEffect(() => complete(), [])
  return null
}
