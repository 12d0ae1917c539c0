// Checks that the database is reachable and migrated, and whether a server is using it.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectDatabase } from '../../db/inspect.ts'
import { errorText } from '../../errors.ts'
import { isOwned } from '../../owner/owner.ts'
import { type Finding, fine } from '../finding.ts'

/** Read-only: creates no files or tables and runs no migrations. */
export async function checkDatabase(settings: DatabaseSettings): Promise<Finding[]> {
  const subject = 'database'
  if (settings.dialect === 'sqlite' && !existsSync(resolve(settings.file)))
    return [
      fine(
        'database_created_later',
        subject,
        `SQLite; the first start creates ${resolve(settings.file)}`,
        {
          file: resolve(settings.file),
        },
      ),
    ]
  try {
    const { pending, isEmpty } = await inspectDatabase(settings)
    const location =
      settings.dialect === 'sqlite' ? `SQLite, ${resolve(settings.file)}` : 'PostgreSQL'
    const isUsed = await isOwned(settings)
    const findings = [
      isUsed
        ? fine('database_used', subject, `${location}; a server is using it`, { location })
        : fine('database_unused', subject, `${location}; no server is using it`, { location }),
    ]
    if (isEmpty)
      findings.push(fine('tables_none', 'tables', 'none yet: the first start creates them'))
    else if (pending > 0)
      findings.push({
        state: 'warn',
        code: 'tables_old',
        params: { count: pending },
        subject: 'tables',
        detail: `from an older version: ${pending} ${pending === 1 ? 'migration is' : 'migrations are'} pending`,
        advice: 'The next start applies them. Run `nanoclaw backup` first.',
      })
    return findings
  } catch (error) {
    return [
      {
        state: 'fail',
        code: settings.dialect === 'sqlite' ? 'sqlite_broken' : 'postgres_broken',
        params: { reason: errorText(error) },
        subject,
        detail: errorText(error),
        advice:
          settings.dialect === 'sqlite'
            ? 'Check db_sqlite_file and its permissions; `nanoclaw restore <file>` restores a backup.'
            : 'Check db_host, db_port, db_user, db_password and db_name (or database_url), and that the server is running.',
      },
    ]
  }
}
