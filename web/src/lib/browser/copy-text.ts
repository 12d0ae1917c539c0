// Copies text to the clipboard, with a fallback for insecure origins (plain HTTP from another machine).

/** Puts the text on the clipboard; returns false when the browser refuses. Call it from a click or key handler. */
export async function copyText(text: string): Promise<boolean> {
  // Undefined on an insecure origin, although the DOM types say otherwise.
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard !== undefined)
    try {
      await clipboard.writeText(text)
      return true
    } catch {
      // Denied, or the page lost the focus: the fallback may still work.
    }
  return copyFromField(text)
}

/** A text with and without its formatting. */
export type RichText = { text: string; html: string }

/** Like `copyText`, but programs that accept HTML receive the formatted text, for example a table as cells. */
export async function copyRich({ text, html }: RichText): Promise<boolean> {
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard !== undefined && 'ClipboardItem' in globalThis)
    try {
      const item = new ClipboardItem({
        'text/plain': new Blob([text], { type: 'text/plain' }),
        'text/html': new Blob([html], { type: 'text/html' }),
      })
      await clipboard.write([item])
      return true
    } catch {
      // The fallback may still work, as in `copyText`.
    }
  const onCopy = (event: ClipboardEvent): void => {
    if (event.clipboardData === null) return
    event.clipboardData.setData('text/plain', text)
    event.clipboardData.setData('text/html', html)
    event.preventDefault()
  }
  // The fallback's copy command fires this event, on insecure origins too, and copies what the listener sets.
  document.addEventListener('copy', onCopy, true)
  try {
    return copyFromField(text)
  } finally {
    document.removeEventListener('copy', onCopy, true)
  }
}

/** Works on every origin: selects the text in a temporary field and runs the browser's copy command. */
function copyFromField(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.cssText = 'position:fixed;top:0;left:0;opacity:0;pointer-events:none'
  // An open dialog traps the focus, so the field must be inside it.
  const place = focused?.closest('[role="dialog"],[role="alertdialog"]') ?? document.body
  place.append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  }
}
