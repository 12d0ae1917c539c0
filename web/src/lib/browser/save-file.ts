// Saves a file from memory as a browser download.

/** Starts a download of `content`; the browser suggests `name` as the file name. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Firefox starts the download after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
