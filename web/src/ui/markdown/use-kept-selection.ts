// Keeps the reader's selection while the text around it is drawn again.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { watchSelection } from '../../lib/browser/text-selection.ts'

/** Positions as offsets from the beginning of the text: they survive when elements are replaced and text is added. */
type Kept = { anchor: number; focus: number }

const distance = (root: Node, node: Node, offset: number): number => {
  const range = document.createRange()
  range.setStart(root, 0)
  range.setEnd(node, offset)
  return range.toString().length
}

const placeAt = (root: Node, place: number): [Node, number] | null => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  let left = place
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.nodeValue?.length ?? 0
    if (left <= length) return [node, left]
    left -= length
  }
  return null
}

const read = (root: Node, selection: Selection | null): Kept | null => {
  if (selection === null || selection.isCollapsed) return null
  const { anchorNode, focusNode, anchorOffset, focusOffset } = selection
  if (anchorNode === null || focusNode === null) return null
  if (!root.contains(anchorNode) || !root.contains(focusNode)) return null
  return {
    anchor: distance(root, anchorNode, anchorOffset),
    focus: distance(root, focusNode, focusOffset),
  }
}

/** `drawn` changes whenever the text inside may have been drawn again; `active`: more may still arrive. */
export function useKeptSelection(
  root: RefObject<HTMLElement | null>,
  drawn: unknown,
  active: boolean,
): void {
  const kept = useRef<Kept | null>(null)
  useEffect(() => {
    if (!active) return
    // The event is a task of its own after the change, so a selection that the redraw removed is restored before this reads it.
    const end = watchSelection((selection) => {
      kept.current = root.current === null ? null : read(root.current, selection)
    })
    return () => {
      end()
      kept.current = null
    }
  }, [active, root])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new drawing is the reason to look
  useLayoutEffect(() => {
    const before = kept.current
    if (before === null || root.current === null) return
    const now = read(root.current, getSelection())
    if (now?.anchor === before.anchor && now.focus === before.focus) return
    const anchor = placeAt(root.current, before.anchor)
    const focus = placeAt(root.current, before.focus)
    if (anchor !== null && focus !== null) getSelection()?.setBaseAndExtent(...anchor, ...focus)
  }, [drawn, root])
}
