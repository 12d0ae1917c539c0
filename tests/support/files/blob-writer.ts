// A child process that stores new contents of 1 MB, four at a time, until it is killed; prints a line for each four.
import { randomBytes } from 'node:crypto'
import { openDiskBlobs } from '../../../server/files/disk-blobs.ts'

const [, , folder = ''] = process.argv
const blobs = await openDiskBlobs(folder)

async function* content(): AsyncGenerator<Buffer> {
  for (let piece = 0; piece < 16; piece += 1) yield randomBytes(65_536)
}

for (;;) {
  await Promise.all([1, 2, 3, 4].map(() => blobs.store(content())))
  process.stdout.write('stored\n')
}
