// The worker thread that moves pages from the write-ahead log of a SQLite file into the file, over its own connection.
import { errorText } from '../../errors.ts'
import { SqliteClient } from '../../lib/sqlite-driver.ts'
import { serveRequests } from '../../lib/worker-server.ts'

/** Why the pages were not moved; empty if they were, or if another process was doing it. */
export interface CheckpointReply {
  failure?: string
}

// The argument is the path of the database file.
const [, , file = ''] = process.argv
const client = new SqliteClient(file, { fileMustExist: true, timeout: 0 })
// The log is synced before its pages are moved, and the file before the log may start again.
client.pragma('synchronous = FULL')

serveRequests((): CheckpointReply => {
  try {
    // Passive: waits for no reader or writer, and no reader or writer waits for it.
    client.pragma('wal_checkpoint(PASSIVE)')
    return {}
  } catch (error) {
    return { failure: errorText(error) }
  }
})
