// Dependencies of commands: a database that exists already and, while the server is stopped, the store as its only owner.
import { existsSync } from 'node:fs'
import type { Config } from '../config/schema.ts'
import { databaseSettings, installationSettings } from '../config/settings.ts'
import { connect } from '../db/connect.ts'
import type { Database } from '../db/database.ts'
import { inspectDatabase } from '../db/inspect.ts'
import { AppError } from '../errors.ts'
import { claimStore } from '../owner/owner.ts'
import { assertInstallation } from '../owner/places.ts'
import { describeDatabase } from './describe-installation.ts'

/** A log for modules whose messages are not for the command line. */
export const quiet = { info() {}, warn() {} }

/**
 * Refuses to work on an installation that does not exist, which connecting would create, and on one of an older version,
 * which connecting would upgrade.
 * @throws AppError with a text for the operator.
 */
export async function assertDatabaseExists(config: Config): Promise<void> {
  const settings = databaseSettings(config)
  const state =
    settings.dialect === 'sqlite' && !existsSync(settings.file)
      ? null
      : await inspectDatabase(settings)
  if (state === null || state.isEmpty)
    throw new AppError(
      'not_found',
      `There is no NanoClaw database here (${describeDatabase(databaseSettings(config))}), and nothing was created. Start the server first, or name another configuration file in NANOCLAW_CONFIG.`,
    )
  if (state.pending > 0)
    throw new AppError(
      'conflict',
      `The database is from an older version: ${state.pending} ${state.pending === 1 ? 'migration is' : 'migrations are'} pending. Back up, then run \`nanoclaw migrate\` or start the server.`,
    )
}

/**
 * Runs `work` while no server can begin with the same store; ends the connection afterwards. If another process takes over
 * the store nevertheless, `work` continues, so each of its steps must be repeatable or only read.
 * @param command names this process to others that want the store.
 * @throws AppError with a text for the operator when a server runs, the files belong to another database, and what
 * `assertDatabaseExists` throws.
 */
export async function whileServerIsStopped<T>(
  config: Config,
  command: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  await assertDatabaseExists(config)
  const settings = databaseSettings(config)
  const owner = await claimStore(settings, { instance: command, log: quiet, onTaken() {} })
  try {
    const database = await connect(settings, { log: quiet })
    try {
      await assertInstallation(installationSettings(config), database, { owner, log: quiet })
      return await work(database)
    } finally {
      await database.close()
    }
  } finally {
    await owner.release()
  }
}
