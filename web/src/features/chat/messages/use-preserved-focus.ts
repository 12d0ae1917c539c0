// Keeps the focus in the message list when the focused message is replaced: by another branch, a new answer, or a closed
// form.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { focusMessageField } from '../../../lib/browser/focus-message-field.ts'

type Lost = {
  element: HTMLElement
  /** The id of the previous message, which stays when the focused one is replaced. Undefined for the first message. */
  before: string | undefined
  isInSiblings: boolean
}

const rowOf = (element: Element): HTMLElement | null =>
  element.closest<HTMLElement>('[data-message]')

const idBefore = (row: Element): string | undefined =>
  row.previousElementSibling instanceof HTMLElement
    ? row.previousElementSibling.dataset.message
    : undefined

/**
 * The control of the new message that replaces the lost one: with the same name, of the same sibling switch, or the menu.
 */
function successorOf(list: HTMLElement, { element, before, isInSiblings }: Lost) {
  const rows = [...list.querySelectorAll<HTMLElement>('[data-message]')]
  const row = rows.find((one) => idBefore(one) === before)
  const label = element.getAttribute('aria-label')
  const controls = [...(row?.querySelectorAll<HTMLButtonElement>('button:enabled') ?? [])]
  return (
    controls.find((one) => label !== null && one.getAttribute('aria-label') === label) ??
    (isInSiblings ? controls.find((one) => one.matches('[data-branches]')) : undefined) ??
    controls.find((one) => one.matches('.message-actions [aria-haspopup="menu"]'))
  )
}

/**
 * Without this hook the browser would drop the focus, and the next Tab would start at the top of the page. Falls back to
 * the composer. Call it in the component that renders every change of `list`.
 */
export function usePreservedFocus(list: RefObject<HTMLElement | null>): void {
  const last = useRef<Lost | null>(null)
  useEffect(() => {
    const element = list.current
    if (element === null) return
    const onFocusIn = ({ target }: FocusEvent): void => {
      const row = target instanceof HTMLElement ? rowOf(target) : null
      last.current =
        row === null || !(target instanceof HTMLElement)
          ? null
          : {
              element: target,
              before: idBefore(row),
              isInSiblings: target.closest('[data-siblings]') !== null,
            }
    }
    // A click on the background removes the focus on purpose; removing or disabling the element does not.
    const onFocusOut = ({ target }: FocusEvent): void => {
      setTimeout(() => {
        const isLeft = target instanceof HTMLElement && target.matches(':enabled:not(:focus)')
        if (isLeft && target.isConnected && last.current?.element === target) last.current = null
      })
    }
    element.addEventListener('focusin', onFocusIn)
    element.addEventListener('focusout', onFocusOut)
    return () => {
      element.removeEventListener('focusin', onFocusIn)
      element.removeEventListener('focusout', onFocusOut)
    }
  }, [list])
  useLayoutEffect(() => {
    const lost = last.current
    if (lost === null || lost.element.isConnected || list.current === null) return
    last.current = null
    if (document.activeElement !== document.body) return
    const successor = successorOf(list.current, lost)
    if (successor === undefined) focusMessageField()
    else successor.focus({ preventScroll: true })
  })
}
