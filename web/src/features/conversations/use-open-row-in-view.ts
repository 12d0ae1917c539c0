// Scrolls the conversation list to the open conversation when it was opened by something else, such as a link.
import { useLayoutEffect, useRef } from 'react'
import type { ListLayout } from './list-entries.ts'

/** Scrolled further than this, the reader is looking at something in the list. */
const TOP_PX = 8

/**
 * Once for each conversation that is opened, as soon as the list has its row; a row in view stays where it is. A row that
 * comes later than the reader's own scrolling is left alone.
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
    if (openId !== null && index === undefined && scroller.scrollTop <= TOP_PX) return
    seen.current = openId
    if (openId === null || index === undefined) return
    const start = starts.get(openId) ?? 0
    const size = sizes[index] ?? 0
    const { scrollTop, clientHeight } = scroller
    if (start + size > scrollTop && start < scrollTop + clientHeight) return
    scroller.scrollTop = start - (clientHeight - size) / 2
  })
}
