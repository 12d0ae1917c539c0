// A child process that writes to a SQLite file until it is killed; prints each key once its write is acknowledged.
import { connect } from '../../../server/db/connect.ts'
import { createStore } from '../../../server/db/store.ts'

const [, , file = '', name = ''] = process.argv
const database = await connect({ dialect: 'sqlite', file }, { log: { info() {}, warn() {} } })
const store = createStore(database)
for (let n = 0; ; n += 1) {
  const key = `${name}-${n}`
  await store.settings.store(key, n)
  process.stdout.write(`${key}\n`)
}
