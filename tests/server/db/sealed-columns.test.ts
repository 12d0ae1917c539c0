// Every column with sealed values is known where their key is replaced and where it is checked.
import { getTableColumns, getTableName } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { sqliteColumns } from '../../../server/db/columns/sqlite.ts'
import { defineTables } from '../../../server/db/tables.ts'

/** A value of another column would be lost with the key that sealed it, when `rotate-keys` removes that key. */
const RESEALED = [
  'channels.sealed_settings',
  'id_tokens.sealed',
  'idempotency_keys.sealed_body',
  'mcp_clients.sealed',
  'mcp_grants.sealed',
  'mcp_servers.sealed_settings',
  'models.sealed_api_key',
  'schedules.sealed_hook_secret',
  'shares.sealed_token',
  'totps.sealed_secret',
  'webhooks.sealed_earlier_secret',
  'webhooks.sealed_secret',
]
/** A sign-in that is in progress while the server is stopped begins anew. */
const SHORT_LIVED = ['mcp_sign_ins.sealed']

test('a column for sealed values is sealed again by rotate-keys and tried by the doctor (`SealedKind`, `SEALED` in db/inspect.ts)', () => {
  const sealed = Object.values(defineTables(sqliteColumns)).flatMap((table) =>
    Object.values(getTableColumns(table))
      .filter(({ name }) => name.startsWith('sealed'))
      .map(({ name }) => `${getTableName(table)}.${name}`),
  )
  expect(sealed.sort()).toEqual([...RESEALED, ...SHORT_LIVED].sort())
})
