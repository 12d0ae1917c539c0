// Reorders pinned conversations: by dragging, with the keyboard, or from their menu.
import { type DragEvent, useState } from 'react'
import { useOrderPins } from '../../lib/api/conversations.ts'
import { moved } from './list-entries.ts'

const DRAG_TYPE = 'application/x-nanoclaw-pin'

/** The result of `usePinOrder`, for the rows and menus of pinned conversations. */
export interface PinOrder {
  /** The drop target, and on which side of it the dragged conversation would go. */
  target: { id: string; side: 'above' | 'below' } | null
  /** Moves a conversation by some positions. Returns the new position, or null if it stays. */
  moveBy(id: string, places: number): number | null
  /** The drag handlers for the row of a pinned conversation. */
  dragHandlers(id: string): {
    onDragStart(event: DragEvent): void
    onDragOver(event: DragEvent): void
    onDragEnd(): void
    onDrop(event: DragEvent): void
  }
}

/** `ids` are the pinned conversations from top to bottom. */
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
