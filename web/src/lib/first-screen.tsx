// When the first screen stands: what is not part of it (fonts, toasts, code for later) waits, so that it does not compete.
import { useEffect } from 'react'

let stands = (): void => undefined

/** Settled once there is something to read or to write in, or something to be told that cannot wait. */
export const firstScreen = new Promise<void>((resolve) => {
  stands = resolve
})

/** Nothing is to wait any longer. */
export const endFirstScreen = (): void => stands()

/** To be drawn beside the content of a page: it tells that the content stands. */
export function FirstScreenStands() {
  useEffect(() => stands(), [])
  return null
}
