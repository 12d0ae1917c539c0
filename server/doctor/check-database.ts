// Whether the database can be reached, and whether its tables are those of this version.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { connect } from '../db/connect.ts'
import type { DatabaseSettings } from '../db/database.ts'
import { errorText } from '../errors.ts'
import { type Finding, fine } from './finding.ts'

const silent = { info() {}, warn() {} }

/** A SQLite file that is not there yet is not made. A database of an older version is brought up to date, as a start does. */
export async function checkDatabase(settings: DatabaseSettings): Promise<Finding[]> {
  const subject = 'database'
  if (settings.dialect === 'sqlite' && !existsSync(resolve(settings.file)))
    return [fine(subject, `SQLite, ${resolve(settings.file)} will be made at first start`)]
  try {
    const database = await connect(settings, { log: silent })
    await database.ping()
    await database.close()
    return [
      fine(
        subject,
        settings.dialect === 'sqlite' ? `SQLite, ${resolve(settings.file)}` : 'PostgreSQL answers',
      ),
    ]
  } catch (error) {
    return [
      {
        state: 'fail',
        subject,
        detail: errorText(error),
        advice:
          settings.dialect === 'sqlite'
            ? 'Check db_sqlite_file and who may write there; `npm run restore -- <file>` puts a backup in its place.'
            : 'Check db_host, db_port, db_user, db_password and db_name (or database_url), and that the server runs.',
      },
    ]
  }
}
