// A child process that moves the attachments of a SQLite database to files and prints a line for each one.
import { connect } from '../../../server/db/connect.ts'
import { createStore } from '../../../server/db/store.ts'
import { openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { createFileService } from '../../../server/files/files.ts'
import { createAttachmentMover } from '../../../server/files/move-attachments.ts'

const [, , file = '', folder = ''] = process.argv
const log = { info() {}, warn() {} }
const database = await connect({ dialect: 'sqlite', file }, { log })
const store = createStore(database)
const blobs = await openDiskBlobs(folder)
const files = createFileService({
  database,
  files: store.files,
  searchIndex: store.search.index,
  blobs,
  incoming: blobs.incoming,
  maxBytes: 1_000_000,
  storage: { claim: async () => {}, release() {} },
  log,
})
const mover = createAttachmentMover({
  store,
  database: {
    write: async (work) => {
      // If the process is killed from here on, the blob is stored but its row may not be.
      process.stdout.write('moving\n')
      return database.write(work)
    },
  },
  files,
  log,
})
// The mover's timers are unreferenced, so something else must keep the process alive.
const alive = setInterval(() => {}, 60_000)
await mover.run()
clearInterval(alive)
process.stdout.write('done\n')
await database.close()
