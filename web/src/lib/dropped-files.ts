// Files dropped on the page outside every drop zone: without this the browser would leave the page to show them.

/** Who is given the files that were dropped beside it. */
export type DropTaker = {
  /** Files are being dragged over the page, or no longer. */
  onOver(over: boolean): void
  onFiles(files: FileList): void
}

const takers: DropTaker[] = []

/** The newest taker is given what is dropped, except while a dialog is open. Returns how to end that. */
export function takeDroppedFiles(taker: DropTaker): () => void {
  takers.push(taker)
  return () => void takers.splice(takers.indexOf(taker), 1)
}

const currentTaker = (): DropTaker | undefined =>
  document.querySelector('[role="dialog"],[role="alertdialog"]') === null
    ? takers.at(-1)
    : undefined

/** Files that no drop zone has claimed for itself. */
const strayFiles = (event: DragEvent): DataTransfer | null =>
  !event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true
    ? event.dataTransfer
    : null

/** Keeps dropped files from replacing the page; to be called once, when it starts. */
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
    // Null: it left the window, and not just one element for another.
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
