// `nanoclaw move`: the rows of the configured database, copied into an empty database of either kind.
import { dirname, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { databaseSettings, installationSettings } from '../config/settings.ts'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectSetting } from '../db/inspect.ts'
import { moveDatabase } from '../db/move/move.ts'
import type { MoveWriter } from '../db/move/move-end.ts'
import { MOVED_TABLES, type MovedValue, UNFINISHED_MOVE } from '../db/move/moved-tables.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { databaseName } from '../owner/held-folders.ts'
import { assertNotMoved, forgetMove, movedTo, rememberMove } from '../owner/moved-away.ts'
import { claimStore } from '../owner/owner.ts'
import { assertMoveEnded, elsewhere, holdPlaces, idOfDatabase } from '../owner/places.ts'
import { type AuditAction, COMMAND_LINE } from '../protocol/admin/audit.ts'
import { describeDatabase } from './describe-installation.ts'
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
  await assertMoveEnded(from)
  if (target.dialect === 'sqlite') makeFolder(dirname(target.file))
  const owner = await claimStore(from, { instance: 'move', log: quiet, onTaken() {} })
  try {
    await holdPlaces(installationSettings(config), owner, quiet)
    owner.alsoHolds(await claimStore(target, { instance: 'move', log: quiet, onTaken() {} }))
    const name = describeDatabase(target)
    if (await isDone(config, from, target))
      return [`All rows are in ${name} already: this move is complete.`, ...nextSteps(target)]
    const { tables, rows, resumed } = await moveDatabase(from, target, {
      source: databaseName(from),
      onTable(name, count) {
        if (count >= NAMED_ROWS) onProgress(`${name}: ${count} rows`)
      },
      async onEnd(write, count) {
        await recordMove(write, {
          from: describeDatabase(databaseSettings(config)),
          to: name,
          rows: count,
        })
        // Before the target can be used: from then on, nothing may be stored in the earlier database by mistake.
        await rememberMove(config.data_dir, from, name)
      },
    })
    await forgetMove(config.data_dir, target)
    return [
      `Moved ${rows} rows of ${tables} tables to ${name}${resumed === 0 ? '' : `; ${resumed} tables were there from an interrupted move`}. Numbers of rows and checksums are the same in both. The configured database is unchanged.`,
      ...nextSteps(target),
    ]
  } finally {
    await owner.release()
  }
}

const nextSteps = (target: DatabaseSettings): string[] => [
  target.dialect === 'sqlite'
    ? `Now set in the configuration: db_type: sqlite, db_sqlite_file: ${target.file}. Remove database_url, db_host … and redis_url.`
    : 'Now set in the configuration: db_type: postgresql, and database_url to the same address. For several instances, also redis_url.',
  'Folders and keys stay as they are. The search indexes all texts again once the server runs, newest first.',
]

/**
 * Whether an earlier call of the same command has completed the move.
 * @throws AppError with a text for the operator when the rows were moved elsewhere, so that what is here is old.
 */
async function isDone(
  config: Config,
  from: DatabaseSettings,
  target: DatabaseSettings,
): Promise<boolean> {
  const to = await movedTo(config.data_dir, from)
  if (to === describeDatabase(target)) {
    // The note is written before the target is complete: an interrupted end is repeated.
    if ((await inspectSetting(target, UNFINISHED_MOVE)) !== undefined) return false
    const id = await idOfDatabase(from)
    if (id !== null && id === (await idOfDatabase(target))) return true
  }
  await assertNotMoved(config.data_dir, from)
  return false
}

/** Adds the entry of the move to the audit log of the target, in the transaction that completes it. */
async function recordMove(
  write: Pick<MoveWriter, 'insert'>,
  details: { from: string; to: string; rows: number },
): Promise<void> {
  const table = MOVED_TABLES.find(({ name }) => name === 'audit_entries')
  if (table === undefined) throw new AppError('internal', 'The audit log is not moved.')
  const action: AuditAction = 'database_moved'
  const entry: Record<string, MovedValue> = {
    id: newId<string>(),
    at: Date.now(),
    action,
    user_id: COMMAND_LINE.userId,
    username: COMMAND_LINE.username,
    address: COMMAND_LINE.address,
    details: JSON.stringify({ ...details, ...COMMAND_LINE.details }),
  }
  await write.insert(table, [table.columns.map(({ name }) => entry[name] ?? null)])
}
