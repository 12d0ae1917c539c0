// The text that the reader has selected on the page, watched once for everything that follows it.

/** `selection`: null when no text is selected. */
type Watcher = (selection: Selection | null) => void

const watchers = new Set<Watcher>()
let selected: Selection | null = null

function look(): void {
  const selection = getSelection()
  selected = selection === null || selection.isCollapsed ? null : selection
}

function onChange({ target }: Event): void {
  const isInField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement
  // A text field has a selection of its own. Asking for the page's would lay the page out at every key press.
  if (isInField && selected === null) return
  look()
  for (const watcher of watchers) watcher(selected)
}

/** Calls `watcher` with the selection as it is and after every change. Returns what ends it. */
export function watchSelection(watcher: Watcher): () => void {
  if (watchers.size === 0) {
    document.addEventListener('selectionchange', onChange)
    look()
  }
  watchers.add(watcher)
  watcher(selected)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) document.removeEventListener('selectionchange', onChange)
  }
}
