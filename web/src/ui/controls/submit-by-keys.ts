// Ctrl+Enter or ⌘+Enter in a multi-line field submits its form, as Enter does in a single-line field.
import type { KeyboardEvent } from 'react'
import { isComposing } from '../../lib/browser/composing.ts'

/** The `onKeyDown` of a `textarea`. Does what the form's submit button does: nothing while that is disabled. */
export function submitByKeys(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const isModified = event.ctrlKey || event.metaKey
  if (event.key !== 'Enter' || !isModified || isComposing(event.nativeEvent)) return
  event.preventDefault()
  for (const control of event.currentTarget.form?.elements ?? [])
    if (control instanceof HTMLButtonElement && control.type === 'submit') {
      control.click()
      return
    }
}
