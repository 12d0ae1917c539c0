// Stores the skills of an import as skills of the user; none that the user has is replaced.
import { readFile, rm } from 'node:fs/promises'
import type { Store } from '../../db/store.ts'
import { AppError } from '../../errors.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import type { UserId } from '../../protocol/ids.ts'
import { storeSkillFiles } from '../../skills/uploaded-skill.ts'
import type { ImportItem } from '../import-items.ts'
import type { ReportWriter } from '../import-report.ts'

/** What imported skills are stored with. */
export interface SkillStoring {
  store: Pick<Store, 'userSkills'>
  now(): Date
}

/** Stores one skill, and removes its unpacked files; the report says why it is left out. */
export async function importSkill(
  { store, now, userId, report }: SkillStoring & { userId: UserId; report: ReportWriter },
  { name, files }: Extract<ImportItem, { type: 'skill' }>,
): Promise<void> {
  try {
    if ((await store.userSkills.find(userId, name)) !== undefined)
      return report.skip(name, storedFailure('import_already_there'))
    const contents = new Map<string, Buffer>()
    for (const file of files) contents.set(file.name, await readFile(file.path))
    await storeSkillFiles(userId, name, contents, { store, now })
    report.count('skills')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    report.skip(name, storedFailure('import_file_refused', { detail: error.message }))
  } finally {
    for (const { path } of files) await rm(path, { force: true })
  }
}
