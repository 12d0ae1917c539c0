// The folder with contents that are being received.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Whatever is in it when the process starts is a leftover. */
export const INCOMING = 'incoming'

/** Creates the folder, empty. @returns its path. */
export async function openIncoming(folder: string): Promise<string> {
  const incoming = join(folder, INCOMING)
  // A child of the dead process may still be writing.
  await rm(incoming, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  return incoming
}
