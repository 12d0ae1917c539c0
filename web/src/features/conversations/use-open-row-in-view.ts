// Scrolls the conversation list to the open conversation if something else, such as a link, has opened it.
import { useLayoutEffect, useRef } from 'react'
import type { ListLayout } from './list-entries.ts'

/** With a larger scroll offset the user is looking at something in the list. */
const TOP_PIXELS = 8

/**
 * Scrolls once per opened conversation, as soon as the list contains its row and unless the row is in view. Does nothing
 * if the row arrives after the user has scrolled.
 */
export function useOpenRowInView(
  openId: string | null,
  { starts, sizes, indexes }: ListLayout,
  scroller: HTMLElement | null,
): void {
  const seen = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (scroller === null || openId === seen.current) return
    const index = openId === null ? undefined : indexes.get(openId)
    if (openId !== null && index === undefined && scroller.scrollTop <= TOP_PIXELS) return
    seen.current = openId
    if (openId === null || index === undefined) return
    const start = starts.get(openId) ?? 0
    const size = sizes[index] ?? 0
    const { scrollTop, clientHeight } = scroller
    if (start + size > scrollTop && start < scrollTop + clientHeight) return
    scroller.scrollTop = start - (clientHeight - size) / 2
  })
}
