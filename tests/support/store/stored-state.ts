// Everything that a server has stored, as text to compare: nothing may change when a request is refused.
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import pg from 'pg'
import type { Config } from '../../../server/config/schema.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'

/** Changed by every request, or by time. */
const NOT_COMPARED = new Set(['audit_entries', 'sessions', 'leases'])

/** Everything that the server has stored, as one hash per table and folder. */
export async function createStateReader(config: Config) {
  const tables = new Map<string, string>()
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64')
  const folders = [config.workspace_root, config.data_dir].map((folder) => () => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => !/\.db|responses|secret/.test(name)).sort()
  })
  const withFolders = (): string[] => folders.map((list) => list().join())
  if (config.db_type === 'sqlite') {
    const file = new SqliteClient(config.db_sqlite_file ?? '', { readonly: true })
    const names: string[] = file
      .prepare("select name from sqlite_master where type = 'table' and sql not like '%virtual%'")
      .pluck()
      .all()
      .map(String)
    return {
      async read() {
        for (const name of names)
          if (!NOT_COMPARED.has(name) && !name.startsWith('search'))
            tables.set(name, digest(JSON.stringify(file.prepare(`select * from "${name}"`).all())))
        return [...tables, ...withFolders()].join('\n')
      },
      close: async () => void file.close(),
    }
  }
  const client = new pg.Client({ connectionString: config.database_url })
  client.on('error', () => {})
  await client.connect()
  const found = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  )
  const hashes = found.rows
    .filter(({ name }) => !NOT_COMPARED.has(name) && !name.startsWith('search'))
    .map(
      ({ name }) =>
        `select '${name}' as name, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from "${name}" t`,
    )
    .join(' union all ')
  return {
    async read() {
      const { rows } = await client.query<{ name: string; hash: string }>(hashes)
      return [...rows.map(({ name, hash }) => `${name},${hash}`).sort(), ...withFolders()].join(
        '\n',
      )
    },
    close: () => client.end(),
  }
}
