// Saves a file from memory through the browser's download.

/** `name` is what the browser suggests or uses as the file name. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Firefox starts the download after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
