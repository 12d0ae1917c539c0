// The folder for contents that are being received.
import { mkdir, opendir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

export const INCOMING = 'incoming'

/**
 * Creates the folder. If only this process uses the store, everything in it is a leftover and is removed. Otherwise,
 * another instance may be writing to it, and `removeLeftovers` removes what is too old. @returns its path.
 */
export async function openIncoming(folder: string, isShared: boolean): Promise<string> {
  const incoming = join(folder, INCOMING)
  // A child of the dead process may still be writing.
  if (!isShared)
    await rm(incoming, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  return incoming
}

/** Removes files, and folders of files, that were last written before a moment. */
export async function removeLeftovers(incoming: string, writtenBefore: Date): Promise<void> {
  for await (const { name } of await opendir(incoming)) {
    const path = join(incoming, name)
    const parts = await readdir(path).catch(() => [])
    const times = [path, ...parts.map((part) => join(path, part))].map(
      async (each) => (await stat(each).catch(() => null))?.mtimeMs ?? 0,
    )
    if (Math.max(...(await Promise.all(times))) >= writtenBefore.getTime()) continue
    await rm(path, { recursive: true, force: true })
  }
}
