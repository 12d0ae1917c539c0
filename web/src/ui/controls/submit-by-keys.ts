// Ctrl+Enter or ⌘+Enter in a multi-line field submits its form, as Enter does in a single-line field.
import type { KeyboardEvent } from 'react'
import { isComposing } from '../../lib/browser/composing.ts'

/** The `onKeyDown` of a `textarea`. Does what the form's submit button does: nothing while that is disabled. */
export function submitByKeys(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const isModified = event.ctrlKey || event.metaKey
  if (event.key !== 'Enter' || !isModified || isComposing(event.nativeEvent)) return
  event.preventDefault()
  const controls = [...(event.currentTarget.form?.elements ?? [])]
  controls
    .find((control) => control instanceof HTMLButtonElement && control.type === 'submit')
    ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))
}
