// `nanoclaw move`: the rows of the configured database, copied into an empty database of either kind.
import { dirname, resolve } from 'node:path'
import {
  databaseSettings,
  describeDatabase,
  describeDatabaseSettings,
  installationSettings,
} from '../composition/settings.ts'
import type { Config } from '../config/schema.ts'
import { connect } from '../db/connect.ts'
import type { DatabaseSettings } from '../db/database.ts'
import { moveDatabase } from '../db/move/move.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { databaseName } from '../owner/held-folders.ts'
import { forgetMove, rememberMove } from '../owner/moved-away.ts'
import { claimStore } from '../owner/owner.ts'
import { elsewhere, holdPlaces } from '../owner/places.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import { assertDatabaseExists, quiet } from './stopped-server.ts'

/** Tables of which the progress names the rows. */
const NAMED_ROWS = 1_000

/** The database that `--to` names. */
function targetOf(config: Config, to: string): DatabaseSettings {
  if (/^postgres(ql)?:\/\//i.test(to)) {
    if (!URL.canParse(to)) throw new AppError('bad_request', '--to is not a valid address.')
    return {
      dialect: 'postgres',
      connection: { url: to },
      embeddings: config.embeddings !== undefined,
    }
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(to))
    throw new AppError(
      'bad_request',
      '--to takes the address of a PostgreSQL database (postgresql://user@host/database) or the path of a new SQLite file.',
    )
  return { dialect: 'sqlite', file: resolve(to) }
}

/**
 * Moves the rows while no server runs; files and keys stay where they are.
 * @returns the lines to print.
 * @throws AppError with a text for the operator; the configured database is unchanged in any case.
 */
export async function move(
  config: Config,
  to: string,
  onProgress: (line: string) => void,
): Promise<string[]> {
  await assertDatabaseExists(config)
  const from = databaseSettings(config)
  const target = targetOf(config, to)
  if (databaseName(from) === databaseName(target))
    throw new AppError('conflict', '--to names the database that is configured already.')
  const fault = await elsewhere(installationSettings(config))
  if (fault !== null) throw new AppError('conflict', `${fault.detail}. ${fault.advice}`)
  if (target.dialect === 'sqlite') makeFolder(dirname(target.file))
  const owner = await claimStore(from, { instance: 'move', log: quiet, onTaken() {} })
  try {
    await holdPlaces(installationSettings(config), owner, quiet)
    owner.alsoHolds(await claimStore(target, { instance: 'move', log: quiet, onTaken() {} }))
    const { tables, rows, resumed } = await moveDatabase(from, target, {
      source: databaseName(from),
      onTable(name, count) {
        if (count >= NAMED_ROWS) onProgress(`${name}: ${count} rows`)
      },
    })
    const name = describeDatabaseSettings(target)
    await recordMove(target, { from: describeDatabase(config), to: name, rows })
    await rememberMove(config.data_dir, from, name)
    await forgetMove(config.data_dir, target)
    return [
      `Moved ${rows} rows of ${tables} tables to ${name}${resumed === 0 ? '' : `; ${resumed} tables were there from an interrupted move`}. Numbers of rows and checksums are the same in both. The configured database is unchanged.`,
      target.dialect === 'sqlite'
        ? `Now set in the configuration: db_type: sqlite, db_sqlite_file: ${target.file}. Remove database_url, db_host … and redis_url.`
        : 'Now set in the configuration: db_type: postgresql, and database_url to the same address. For several instances, also redis_url.',
      'Folders and keys stay as they are. The search indexes all texts again once the server runs, newest first.',
    ]
  } finally {
    await owner.release()
  }
}

async function recordMove(
  target: DatabaseSettings,
  details: { from: string; to: string; rows: number },
): Promise<void> {
  const database = await connect(target, { log: quiet })
  try {
    const { audit } = createStore(database)
    await database.write((tx) =>
      audit.record(tx, COMMAND_LINE, { action: 'database_moved', at: new Date(), details }),
    )
  } finally {
    await database.close()
  }
}
