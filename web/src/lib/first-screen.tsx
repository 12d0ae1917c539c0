// When the first screen is complete: everything else (fonts, toasts, code for later) waits for it, so as not to compete.
import { useEffect } from 'react'

let stands = (): void => undefined

/** Resolves once there is something to read or a field to type in, or a notice that cannot wait. */
export const firstScreen = new Promise<void>((resolve) => {
  stands = resolve
})

/** Lets everything that waits proceed. */
export const endFirstScreen = (): void => stands()

/** Render this beside a page's content; it marks the first screen as complete. */
export function FirstScreenStands() {
  useEffect(() => stands(), [])
  return null
}
