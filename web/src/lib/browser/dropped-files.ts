// Files dropped outside every drop zone: without this, the browser would leave the page to show them.

/** Receives files that were dropped outside the drop zones. */
export type DropTaker = {
  /** Files are being dragged over the page, or no longer. */
  onOver(over: boolean): void
  onFiles(files: FileList): void
}

const takers: DropTaker[] = []

/** The newest taker receives dropped files, except while a dialog is open. Returns a function that unregisters it. */
export function takeDroppedFiles(taker: DropTaker): () => void {
  takers.push(taker)
  return () => void takers.splice(takers.indexOf(taker), 1)
}

const currentTaker = (): DropTaker | undefined =>
  document.querySelector('[role="dialog"],[role="alertdialog"]') === null
    ? takers.at(-1)
    : undefined

/** Files that no drop zone has claimed. */
const strayFiles = (event: DragEvent): DataTransfer | null =>
  !event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true
    ? event.dataTransfer
    : null

/** Keeps dropped files from replacing the page. Call it once, at the start. */
export function guardDrops(): void {
  addEventListener('dragover', (event) => {
    const transfer = strayFiles(event)
    if (transfer === null) return
    event.preventDefault()
    const taker = currentTaker()
    transfer.dropEffect = taker === undefined ? 'none' : 'copy'
    taker?.onOver(true)
  })
  addEventListener('dragleave', (event) => {
    // Null: the drag left the window, not only one element.
    if (event.relatedTarget === null) takers.at(-1)?.onOver(false)
  })
  addEventListener('drop', (event) => {
    takers.at(-1)?.onOver(false)
    const transfer = strayFiles(event)
    if (transfer === null) return
    event.preventDefault()
    currentTaker()?.onFiles(transfer.files)
  })
}
