// The keyboard in lists whose rows can be removed: the focus goes on to the next row.

const CONTROL = ':is(a[href], button, input, select, textarea, summary):enabled, a[href], summary'

/** The control of `row` that is most like the removed one: the last, where rows have their button for removing. */
const lastControl = (row: Node | null): HTMLElement | undefined =>
  row instanceof Element ? [...row.querySelectorAll<HTMLElement>(CONTROL)].at(-1) : undefined

/**
 * For `ref` of a list. When the row with the focus is removed, the row in its place gets the focus; without any row, the
 * first control of the section does, or of the page. A browser would put the focus at the beginning of the page.
 */
export function keptRowFocus(list: HTMLElement | null): (() => void) | undefined {
  if (list === null) return undefined
  const section = list.closest('section, main')
  let focused: Element | null = null
  const onFocus = ({ target }: FocusEvent): void => {
    focused = target instanceof Element ? target : null
  }
  const isLost = (): boolean =>
    focused !== null && !focused.isConnected && document.activeElement === document.body
  const leaveList = (): void => section?.querySelector<HTMLElement>(CONTROL)?.focus()
  const observer = new MutationObserver((records) => {
    if (!isLost()) return
    const removed = records.find(({ removedNodes }) =>
      [...removedNodes].some((node) => node.contains(focused)),
    )
    if (removed === undefined) return
    const next = lastControl(removed.nextSibling) ?? lastControl(removed.previousSibling)
    if (next === undefined) leaveList()
    else next.focus()
  })
  list.addEventListener('focusin', onFocus)
  observer.observe(list, { childList: true })
  return () => {
    list.removeEventListener('focusin', onFocus)
    observer.disconnect()
    // The list is removed after this: with its last row, or because the whole view goes.
    queueMicrotask(() => {
      if (isLost() && section?.isConnected === true) leaveList()
    })
  }
}
