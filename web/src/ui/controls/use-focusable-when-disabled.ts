// Buttons that stay focusable when they are disabled.
import { type ComponentProps, useState } from 'react'

type DisabledProps = Pick<
  ComponentProps<'button'>,
  'disabled' | 'onClick' | 'onFocus' | 'onBlur' | 'aria-disabled'
>

/**
 * Returns the properties of a button that keeps the focus when it is disabled, for example by its own request. Browsers
 * move the focus from a disabled button to the document, where the next Tab starts at the top of the page. Until the user
 * moves on, such a button is therefore only `aria-disabled` and ignores clicks.
 */
export function useFocusableWhenDisabled({
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
      // While another window is active, the button remains the active element and has the focus again afterwards.
      setHasFocus(document.activeElement === event.currentTarget)
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
