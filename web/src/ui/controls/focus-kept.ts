// Disabling a button that has the focus without taking the focus away.
import { type ComponentProps, useState } from 'react'

type DisabledProps = Pick<
  ComponentProps<'button'>,
  'disabled' | 'onClick' | 'onFocus' | 'onBlur' | 'aria-disabled'
>

/**
 * Returns the properties of a button that keeps the focus while it is disabled, for example while its own request runs.
 * Browsers move the focus from a disabled button to the document, where the next Tab starts at the top of the page. Until
 * the user moves on, such a button is therefore only `aria-disabled` and ignores clicks.
 */
export function useFocusKept({
  disabled = false,
  onClick,
  onFocus,
  onBlur,
  'aria-disabled': ariaDisabled,
}: DisabledProps): DisabledProps {
  const [hasFocus, setHasFocus] = useState(false)
  const keepsFocus = disabled && hasFocus
  return {
    disabled: disabled && !hasFocus,
    'aria-disabled': keepsFocus ? true : ariaDisabled,
    onFocus(event) {
      setHasFocus(true)
      onFocus?.(event)
    },
    onBlur(event) {
      setHasFocus(false)
      onBlur?.(event)
    },
    onClick(event) {
      if (!keepsFocus) return onClick?.(event)
      // Like a click on a disabled button: it neither submits a form nor reaches elements around the button.
      event.preventDefault()
      event.stopPropagation()
    },
  }
}
