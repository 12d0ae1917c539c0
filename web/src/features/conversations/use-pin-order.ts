// Puts pinned conversations into another order: by dragging, with the keyboard, or from their menu.
import { type DragEvent, useState } from 'react'
import { useOrderPins } from '../../lib/api/conversations.ts'
import { moved } from './list-entries.ts'

const DRAG_TYPE = 'application/x-nanoclaw-pin'

/** Returned by `usePinOrder`; the rows and the menu of a pinned conversation use it. */
export interface PinOrder {
  /** The pinned conversation that would make room, and on which side of it the dragged one would go. */
  target: { id: string; side: 'above' | 'below' } | null
  /** Moves it by some places; returns the new one, or null if it stays. */
  moveBy(id: string, places: number): number | null
  /** Handlers of the row of a pinned conversation. */
  dragHandlers(id: string): {
    onDragStart(event: DragEvent): void
    onDragOver(event: DragEvent): void
    onDragEnd(): void
    onDrop(event: DragEvent): void
  }
}

/** @param ids the pinned conversations, from the top down. */
export function usePinOrder(ids: readonly string[]): PinOrder {
  const { mutate } = useOrderPins()
  const [dragged, setDragged] = useState<string | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const move = (id: string, to: number): void => {
    if (ids.indexOf(id) !== to) mutate(moved(ids, id, to))
  }
  const end = (): void => {
    setDragged(null)
    setOver(null)
  }
  return {
    target:
      dragged === null || over === null || dragged === over
        ? null
        : { id: over, side: ids.indexOf(over) < ids.indexOf(dragged) ? 'above' : 'below' },
    moveBy(id, places) {
      const to = ids.indexOf(id) + places
      if (to < 0 || to >= ids.length) return null
      move(id, to)
      return to
    },
    dragHandlers: (id) => ({
      onDragStart(event) {
        event.dataTransfer.setData(DRAG_TYPE, id)
        event.dataTransfer.effectAllowed = 'copyMove'
        setDragged(id)
      },
      onDragOver(event) {
        if (dragged === null) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'move'
        setOver(id)
      },
      onDragEnd: end,
      onDrop(event) {
        if (dragged === null) return
        event.preventDefault()
        move(dragged, ids.indexOf(id))
        end()
      },
    }),
  }
}
