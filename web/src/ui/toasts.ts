// Short notices at the top of the page. Their library is fetched when the first one is shown.
type Kind = 'plain' | 'success' | 'error'

/** The same text is shown once, not stacked. */
export function notify(text: string, kind: Kind = 'plain'): void {
  void import('sonner').then(({ toast }) => {
    const options = { id: text }
    if (kind === 'plain') toast(text, options)
    else toast[kind](text, options)
  })
}
