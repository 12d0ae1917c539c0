// The search on PostgreSQL, in a database of its own.
import { connect } from '../server/db/connect.ts'
import { onPostgres } from './postgres.ts'
import type { Row } from './row.ts'
import { measureSearch } from './search.ts'

export const run = (): Promise<Row[]> =>
  onPostgres(async (newDatabase) => {
    const settings = {
      dialect: 'postgres',
      connection: { url: await newDatabase() },
      poolSize: 8,
    } as const
    const database = await connect(settings, { log: { info() {}, warn() {} } })
    try {
      return await measureSearch(settings, database, 'postgres')
    } finally {
      await database.close()
    }
  })
