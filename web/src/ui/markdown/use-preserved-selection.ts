// Preserves the user's text selection while the text is rendered again.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { watchSelection } from '../../lib/browser/text-selection.ts'

/** Offsets from the start of the text, which stay valid when elements are replaced and text is appended. */
type Offsets = { anchor: number; focus: number }

const distance = (root: Node, node: Node, offset: number): number => {
  const range = document.createRange()
  range.setStart(root, 0)
  range.setEnd(node, offset)
  return range.toString().length
}

const placeAt = (root: Node, offset: number): [Node, number] | null => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  let left = offset
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.nodeValue?.length ?? 0
    if (left <= length) return [node, left]
    left -= length
  }
  return null
}

const read = (root: Node, selection: Selection | null): Offsets | null => {
  if (selection === null || selection.isCollapsed) return null
  const { anchorNode, focusNode, anchorOffset, focusOffset } = selection
  if (anchorNode === null || focusNode === null) return null
  if (!root.contains(anchorNode) || !root.contains(focusNode)) return null
  return {
    anchor: distance(root, anchorNode, anchorOffset),
    focus: distance(root, focusNode, focusOffset),
  }
}

/**
 * Restores the selection in `root` after each change of `drawn`, which changes whenever the text may have been rendered
 * again. Watches the selection only while `active`: while more text may arrive.
 */
export function usePreservedSelection(
  root: RefObject<HTMLElement | null>,
  drawn: unknown,
  active: boolean,
): void {
  const saved = useRef<Offsets | null>(null)
  useEffect(() => {
    if (!active) return
    // The event fires in a later task, so a selection that the render removed is restored before this reads it.
    const end = watchSelection((selection) => {
      saved.current = root.current === null ? null : read(root.current, selection)
    })
    return () => {
      end()
      saved.current = null
    }
  }, [active, root])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` signals a new rendering
  useLayoutEffect(() => {
    const before = saved.current
    if (before === null || root.current === null) return
    const now = read(root.current, getSelection())
    if (now?.anchor === before.anchor && now.focus === before.focus) return
    const anchor = placeAt(root.current, before.anchor)
    const focus = placeAt(root.current, before.focus)
    if (anchor !== null && focus !== null) getSelection()?.setBaseAndExtent(...anchor, ...focus)
  }, [drawn, root])
}
