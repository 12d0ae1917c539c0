// The text selection of the page, with one document listener for all watchers.

/** Receives the selection; null when no text is selected. */
type Watcher = (selection: Selection | null) => void

const watchers = new Set<Watcher>()
let selected: Selection | null = null

function readSelection(): void {
  const selection = getSelection()
  selected = selection === null || selection.isCollapsed ? null : selection
}

function onChange({ target }: Event): void {
  const isInField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement
  // A text field has its own selection. Reading the page's selection would force a layout at every key press.
  if (isInField && selected === null) return
  readSelection()
  for (const watcher of watchers) watcher(selected)
}

/** Calls `watcher` with the current selection and after every change. Returns the function that ends this. */
export function watchSelection(watcher: Watcher): () => void {
  if (watchers.size === 0) {
    document.addEventListener('selectionchange', onChange)
    readSelection()
  }
  watchers.add(watcher)
  watcher(selected)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) document.removeEventListener('selectionchange', onChange)
  }
}
