// Short notices at the top of the page. Their library is fetched after the first screen, or when the first one is shown.
import { endFirstScreen } from '../lib/first-screen.tsx'

type Kind = 'plain' | 'success' | 'error'

let shown = (): void => undefined
const canShow = new Promise<void>((resolve) => {
  shown = resolve
})

/** The place of the notices is on the page; those that came earlier are shown now. */
export const toasterStands = (): void => shown()

/** The same text is shown once, not stacked. */
export function notify(
  text: string,
  kind: Kind = 'plain',
  action?: { label: string; onClick: () => void },
): void {
  endFirstScreen()
  void Promise.all([import('sonner'), canShow]).then(([{ toast }]) => {
    const options = { id: text, ...(action === undefined ? {} : { action, duration: 10_000 }) }
    if (kind === 'plain') toast(text, options)
    else toast[kind](text, options)
  })
}
