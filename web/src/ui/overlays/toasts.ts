// Toasts: short notices at the top of the page. Their library loads after the first screen, or with the first notice.
import { endFirstScreen } from '../../lib/browser/first-screen.tsx'

type Kind = 'plain' | 'success' | 'error'

let shown = (): void => undefined
const canShow = new Promise<void>((resolve) => {
  shown = resolve
})

/** Call it once the toaster is mounted, so that earlier notices appear. */
export const markToasterReady = (): void => shown()

/** How long a notice with an action, or about a failure, stays: it takes longer to read and to decide. */
const LONG_MS = 10_000

/** Shows a notice. Equal texts are not stacked. */
export function notify(
  text: string,
  kind: Kind = 'plain',
  action?: { label: string; onClick: () => void },
): void {
  endFirstScreen()
  void Promise.all([import('sonner'), canShow]).then(([{ toast }]) => {
    const isLong = action !== undefined || kind === 'error'
    const options = { id: text, ...(action && { action }), ...(isLong && { duration: LONG_MS }) }
    if (kind === 'plain') toast(text, options)
    else toast[kind](text, options)
  })
}

/** Whether this is a part of a notice: pressing it closes no dialog below it. */
export const isInNotice = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-sonner-toaster]') !== null
