// Checks that the blob store has every content that files refer to.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectBlobs, inspectDatabase } from '../db/inspect.ts'
import { errorText } from '../errors.ts'
import { blobPath } from '../files/disk-blobs.ts'
import { type Finding, fine } from './finding.ts'

const NAMED = 3

/** Nothing to say before the first start, and before an upgrade. What is wrong with the database itself is not told here. */
export async function checkBlobs(settings: DatabaseSettings, folder: string): Promise<Finding[]> {
  const subject = 'attached files'
  if (settings.dialect === 'sqlite' && !existsSync(resolve(settings.file))) return []
  const state = await inspectDatabase(settings).catch(() => null)
  if (state === null || state.isEmpty || state.pending > 0) return []
  try {
    const blobs = await inspectBlobs(settings)
    const missing: string[] = []
    for (const sha256 of blobs)
      if ((await stat(blobPath(folder, sha256)).catch(() => null)) === null) missing.push(sha256)
    if (missing.length === 0) return [fine(subject, `${blobs.length}, all stored`)]
    const named = missing.slice(0, NAMED).join(', ')
    return [
      {
        state: 'warn',
        subject,
        detail: `${missing.length} of ${blobs.length} are missing in ${resolve(folder)} (${named}${missing.length > NAMED ? ', …' : ''})`,
        advice:
          'Copy them from the folder <backup>.files of a backup. Until then these attachments cannot be opened.',
      },
    ]
  } catch (error) {
    return [{ state: 'warn', subject, detail: errorText(error) }]
  }
}
