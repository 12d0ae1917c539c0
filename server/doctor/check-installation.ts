// Checks that the folders and the bucket belong to the database.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectDatabase, inspectSetting } from '../db/inspect.ts'
import { NO_REFERENCES } from '../db/repositories/installation.ts'
import { errorText } from '../errors.ts'
import {
  INSTALLATION_KEY,
  InstallationId,
  installationFault,
  type Place,
} from '../owner/installation.ts'
import { type Finding, fine } from './finding.ts'

/**
 * Compares the markers of the places with the id of the database. Read-only. Faults of the database itself are reported
 * elsewhere.
 */
export async function checkInstallation(
  settings: DatabaseSettings,
  places: readonly Place[],
): Promise<Finding[]> {
  const subject = 'installation'
  const isMissing = settings.dialect === 'sqlite' && !existsSync(resolve(settings.file))
  if (!isMissing && (await inspectDatabase(settings).catch(() => null)) === null) return []
  try {
    const stored = isMissing ? undefined : await inspectSetting(settings, INSTALLATION_KEY)
    const id = InstallationId.safeParse(stored).data?.id ?? null
    let isMarked = true
    for (const place of places) {
      if ((await place.marker()) === null) {
        isMarked = false
        continue
      }
      const fault = await installationFault([place], id, NO_REFERENCES)
      if (fault === null) continue
      const { detail, advice } = fault
      const params = { detail, advice }
      return [{ state: 'fail', code: 'installation_differs', params, subject, detail, advice }]
    }
    return [
      isMarked
        ? fine('installation_ok', subject, 'the folders belong to this database')
        : fine('installation_later', subject, 'the next start marks the folders'),
    ]
  } catch (error) {
    const reason = errorText(error)
    const params = { reason }
    return [{ state: 'warn', code: 'installation_unknown', params, subject, detail: reason }]
  }
}
