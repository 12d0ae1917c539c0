// Copies text, also where the browser offers no clipboard to scripts (plain HTTP from another machine).

/** Puts the text on the clipboard; false when the browser refuses. Call it from the handler of a click or key. */
export async function copyText(text: string): Promise<boolean> {
  // The type says that it is always there; on an insecure origin it is not.
  const { clipboard } = navigator as { clipboard?: Clipboard }
  if (clipboard !== undefined)
    try {
      await clipboard.writeText(text)
      return true
    } catch {
      // Not allowed to this page, or it lost the focus: the old way may still work.
    }
  return copyFromField(text)
}

/** Copies the way that every origin may: selected in a field, by the browser's own copy command. */
function copyFromField(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.cssText = 'position:fixed;top:0;left:0;opacity:0;pointer-events:none'
  // An open dialog keeps the focus inside it, so the field has to be there too.
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
