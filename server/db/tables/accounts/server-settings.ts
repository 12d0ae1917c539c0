// Tables of settings that administrators enter in the page, besides `config.yml`.
import type { Columns } from '../../columns/postgres.ts'

/** They belong to the server, not to a user. */
export function defineServerSettingsTables(c: Columns) {
  /** Models that an administrator added; those of `config.yml` are not stored. */
  const models = c.table('models', {
    id: c.text('id').primaryKey(),
    settings: c.json<unknown>('settings').notNull(),
    sealedApiKey: c.text('sealed_api_key'),
    createdAt: c.time('created_at').notNull(),
  })

  const settings = c.table('settings', {
    key: c.text('key').primaryKey(),
    value: c.json<unknown>('value').notNull(),
  })

  return { models, settings }
}
