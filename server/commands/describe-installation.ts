// Which installation a process works on, in words for the operator. No secret is in them.

import type { LoadedConfig } from '../config/load.ts'
import { databaseSettings } from '../config/settings.ts'
import type { DatabaseSettings } from '../db/database.ts'

/** Where a database is, without its password. */
export function describeDatabase(settings: DatabaseSettings): string {
  if (settings.dialect === 'sqlite') return `SQLite, ${settings.file}`
  const { connection } = settings
  if (!('url' in connection))
    return `PostgreSQL, ${connection.database} on ${connection.host}:${connection.port}`
  const { pathname, host } = new URL(connection.url)
  return `PostgreSQL, ${decodeURIComponent(pathname.slice(1)) || 'default database'} on ${host || 'the local socket'}`
}

/** The configuration, the database and the folders. */
export const installationOf = ({ config, file, presets }: LoadedConfig) => ({
  configuration:
    presets === null ? (file ?? 'no file, defaults') : `${file ?? 'no file'}, over ${presets}`,
  database: describeDatabase(databaseSettings(config)),
  data: config.data_dir,
  projects: config.workspace_root,
})

/** The same, one line each, and what in the environment has no effect. */
export const describeInstallation = (loaded: LoadedConfig): string[] => [
  ...Object.entries(installationOf(loaded)).map(([name, value]) => `${name}: ${value}`),
  ...loaded.unknownVariables.map(unknownVariable),
]

/** A line about an environment variable that sets no key. */
export const unknownVariable = ({
  variable,
  similar,
}: LoadedConfig['unknownVariables'][number]): string =>
  `The environment variable ${variable} sets no key${similar.length === 0 ? '' : `; did you mean ${similar.join(' or ')}?`}`
