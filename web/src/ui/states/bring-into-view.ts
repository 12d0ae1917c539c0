// Scrolls to what appears below the visible part of a form, such as an error or the result of a test.

/** For `ref`: scrolls to the element when it appears, as far as needed to see it. */
export const bringIntoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: 'nearest' })
