// Checks that this instance sees the folders that the other instances use.
import type { DatabaseSettings } from '../db/database.ts'
import { inspectDatabase, inspectSetting } from '../db/inspect.ts'
import { errorText } from '../errors.ts'
import {
  AgreedFolders,
  FOLDERS_KEY,
  folderFault,
  type SharedFolder,
} from '../owner/shared-folders.ts'
import { type Finding, fine } from './finding.ts'

/** Read-only. Faults of the database itself are reported elsewhere. @param folders empty for a single process. */
export async function checkSharedFolders(
  settings: DatabaseSettings,
  folders: readonly SharedFolder[],
): Promise<Finding[]> {
  const subject = 'shared folders'
  if (folders.length === 0 || settings.dialect !== 'postgres') return []
  const state = await inspectDatabase(settings).catch(() => null)
  if (state === null || state.isEmpty) return []
  try {
    const agreed = AgreedFolders.safeParse(await inspectSetting(settings, FOLDERS_KEY))
    if (!agreed.success)
      return [fine('shared_folders_later', subject, 'the first start with redis_url marks them')]
    const faults: Finding[] = []
    for (const folder of folders) {
      const fault = await folderFault(folder, agreed.data.id)
      if (fault !== null)
        faults.push({
          state: 'fail',
          code: 'shared_folders_differ',
          params: { detail: fault.detail, advice: fault.advice },
          subject,
          detail: fault.detail,
          advice: fault.advice,
        })
    }
    return faults.length > 0
      ? faults
      : [fine('shared_folders_ok', subject, 'those of the other instances')]
  } catch (error) {
    const reason = errorText(error)
    const params = { reason }
    return [{ state: 'warn', code: 'shared_folders_unknown', params, subject, detail: reason }]
  }
}
