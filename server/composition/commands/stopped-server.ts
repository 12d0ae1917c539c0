// Dependencies of commands that run while the server is stopped: the store as its only owner, and its database.
import type { Config } from '../../config/schema.ts'
import { connect } from '../../db/connect.ts'
import type { Database } from '../../db/database.ts'
import { claimStore } from '../../owner/owner.ts'
import { databaseSettings } from '../settings.ts'
import { assertInstallation, assertMayCreate } from '../storage/places.ts'

/** A log for modules whose messages are not for the command line. */
export const quiet = { info() {}, warn() {} }

/**
 * Runs `work` while no server can begin with the same store; ends the connection afterwards. If another process takes over
 * the store nevertheless, `work` continues, so each of its steps must be repeatable or only read.
 * @param command names this process to others that want the store.
 * @throws AppError with a text for the operator when a server runs, or the files belong to another database.
 */
export async function whileServerIsStopped<T>(
  config: Config,
  command: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const settings = databaseSettings(config)
  const owner = await claimStore(settings, { instance: command, log: quiet, onTaken() {} })
  try {
    await assertMayCreate(config)
    const database = await connect(settings, { log: quiet })
    try {
      await assertInstallation(config, database)
      return await work(database)
    } finally {
      await database.close()
    }
  } finally {
    await owner.release()
  }
}
