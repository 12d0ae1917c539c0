// Handles files dropped outside all drop zones; otherwise the browser would navigate to them.

/** Receives files dropped outside the drop zones. */
export type DropReceiver = {
  /** Called when files begin (`true`) or cease (`false`) to be dragged over the page. */
  onOver(over: boolean): void
  onFiles(files: FileList): void
}

const receivers: DropReceiver[] = []

/** Registers a receiver and returns the function that unregisters it. The newest one gets the files, except while a dialog is open. */
export function receiveDroppedFiles(receiver: DropReceiver): () => void {
  receivers.push(receiver)
  return () => void receivers.splice(receivers.indexOf(receiver), 1)
}

const currentReceiver = (): DropReceiver | undefined =>
  document.querySelector('[role="dialog"],[role="alertdialog"]') === null
    ? receivers.at(-1)
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
    const receiver = currentReceiver()
    transfer.dropEffect = receiver === undefined ? 'none' : 'copy'
    receiver?.onOver(true)
  })
  addEventListener('dragleave', (event) => {
    // Null if the drag left the window, not just one element.
    if (event.relatedTarget === null) receivers.at(-1)?.onOver(false)
  })
  addEventListener('drop', (event) => {
    receivers.at(-1)?.onOver(false)
    const transfer = strayFiles(event)
    if (transfer === null) return
    event.preventDefault()
    currentReceiver()?.onFiles(transfer.files)
  })
}
