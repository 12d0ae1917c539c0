// Handlers of an element on which files and folders can be dropped.
import { type DragEvent, useState } from 'react'
import { reportError } from '../../ui/states/error-text.ts'
import { filesOfDrop, type PathedFile } from './api/upload.ts'

/** `isOver` is true while files are dragged over the element. `onFiles` receives dropped files, those in folders included. */
export function useDropTarget(onFiles: (files: PathedFile[]) => void) {
  const [isOver, setIsOver] = useState(false)
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setIsOver(true)
      },
      onDragLeave: () => setIsOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        setIsOver(false)
        void filesOfDrop(event.dataTransfer).then(onFiles, reportError)
      },
    },
  }
}
