// `nanoclaw admin adopt`: gives the configured folders and bucket to the configured database, whoever they belonged to.

import type { Config } from '../config/schema.ts'
import { databaseSettings, installationSettings } from '../config/settings.ts'
import { connect } from '../db/connect.ts'
import { createStore } from '../db/store.ts'
import { TRASH_MS, UNUSED_BLOB_MS } from '../files/collect.ts'
import { adoptPlaces } from '../owner/installation.ts'
import { rememberFolders } from '../owner/last-folders.ts'
import { forgetMove } from '../owner/moved-away.ts'
import { claimStore } from '../owner/owner.ts'
import { holdPlaces, installationPlaces, rememberFiles } from '../owner/places.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import { assertDatabaseExists, quiet } from './stopped-server.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** What happens to files that a database does not know, for the operator. */
export const UNKNOWN_FILES = `Attached files that this database does not refer to are removed after ${(UNUSED_BLOB_MS + TRASH_MS) / DAY_MS} days; project folders that it does not know stay.`

/**
 * Marks the places. The copy of another database first gets ids of its own. Other instances of the same database may run.
 * @returns the lines to print.
 * @throws AppError when a server that does not share the database runs, and what `assertDatabaseExists` throws.
 */
export async function adopt(config: Config, isCopy: boolean): Promise<string[]> {
  await assertDatabaseExists(config)
  const where = databaseSettings(config)
  const owner = await claimStore(where, {
    instance: 'adopt',
    log: quiet,
    isShared: config.redis_url !== undefined,
    onTaken() {},
  })
  try {
    await holdPlaces(installationSettings(config), owner, quiet)
    const database = await connect(where, { log: quiet })
    try {
      const places = installationPlaces(installationSettings(config))
      const { settings, audit } = createStore(database)
      const id = await adoptPlaces(settings, places, { isCopy })
      const own = installationSettings(config)
      if (!own.isShared) await rememberFolders(own, settings, quiet)
      await rememberFiles(own, settings, quiet)
      await forgetMove(own.dataFolder, own.database)
      await database.write((tx) =>
        audit.record(tx, COMMAND_LINE, {
          action: 'folders_adopted',
          at: new Date(),
          details: { installation: id, copy: isCopy },
        }),
      )
      return [
        ...places.map(({ key, name }) => `${key} (${name}) now belongs to this database.`),
        `Installation ${id}. ${UNKNOWN_FILES}`,
      ]
    } finally {
      await database.close()
    }
  } finally {
    await owner.release()
  }
}
