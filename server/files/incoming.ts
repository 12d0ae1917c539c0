// The folder for contents that are being received.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openProcessFolder } from '../lib/process-folder.ts'

export const INCOMING = 'incoming'

/**
 * Creates a folder for this process alone, so that no other process can mistake an upload in progress for a leftover. Removes
 * the folders of dead processes. @returns its path.
 */
export async function openIncoming(folder: string): Promise<string> {
  const incoming = join(folder, INCOMING)
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  return await openProcessFolder(incoming)
}
