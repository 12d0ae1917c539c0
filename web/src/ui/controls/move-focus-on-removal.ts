// Keyboard focus in lists with removable rows: it moves to the next row when its row is removed.

const CONTROL = ':is(a[href], button, input, select, textarea, summary):enabled, a[href], summary'

/** The first control within an element; undefined if there is none. */
export const firstControl = (element: Element | null): HTMLElement | undefined =>
  element?.querySelector<HTMLElement>(CONTROL) ?? undefined

/** The last control of a row, where rows have their remove button: the one most like the removed control. */
const lastControl = (row: Node | null): HTMLElement | undefined =>
  row instanceof Element ? [...row.querySelectorAll<HTMLElement>(CONTROL)].at(-1) : undefined

/**
 * The `ref` callback of a list. When the row with the focus is removed, the row in its place gets the focus; if no row is
 * left, the first control of the section or of the page does. Browsers would reset the focus to the start of the page.
 */
export function moveFocusOnRemoval(list: HTMLElement | null): (() => void) | undefined {
  if (list === null) return undefined
  const section = list.closest('section, main')
  let focused: Element | null = null
  const onFocus = ({ target }: FocusEvent): void => {
    focused = target instanceof Element ? target : null
  }
  const isLost = (): boolean =>
    focused !== null && !focused.isConnected && document.activeElement === document.body
  const focusSection = (): void => firstControl(section)?.focus()
  const observer = new MutationObserver((records) => {
    if (!isLost()) return
    const removed = records.find(({ removedNodes }) =>
      [...removedNodes].some((node) => node.contains(focused)),
    )
    if (removed === undefined) return
    const next = lastControl(removed.nextSibling) ?? lastControl(removed.previousSibling)
    if (next === undefined) focusSection()
    else next.focus()
  })
  list.addEventListener('focusin', onFocus)
  observer.observe(list, { childList: true })
  return () => {
    list.removeEventListener('focusin', onFocus)
    observer.disconnect()
    // React removes the list after this call, either with its last row or with the whole view.
    queueMicrotask(() => {
      if (isLost() && section?.isConnected === true) focusSection()
    })
  }
}
