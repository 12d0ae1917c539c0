// When the first screen is complete: everything else (fonts, toasts, code for later) waits for it, so as not to compete.
import { useEffect } from 'react'

let complete = (): void => undefined

/** Resolves once there is something to read or a field to type in, or a notice that cannot wait. */
export const firstScreen = new Promise<void>((resolve) => {
  complete = resolve
})

/** Lets everything that waits proceed. */
export const endFirstScreen = (): void => complete()

/** Render this beside a page's content; it marks the first screen as complete. */
export function FirstScreenReady() {
  useEffect(() => complete(), [])
  return null
}
