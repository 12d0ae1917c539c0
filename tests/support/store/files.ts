// File rows for suites that do not test uploads.
import type { FileRepository } from '../../../server/db/repositories/projects/files.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { FileId, UserId } from '../../../server/protocol/ids.ts'

type NewFile = Parameters<FileRepository['insert']>[1]

/** Row of a text file that belongs to `userId`. */
export const fileRow = (userId: UserId, changes: Partial<NewFile>): NewFile => ({
  id: newId<FileId>(),
  userId,
  kind: 'text',
  name: 'notes.txt',
  mime: 'text/plain',
  size: 5,
  sha256: '0'.repeat(64),
  thumbnailSha256: null,
  width: null,
  height: null,
  pages: null,
  failure: null,
  createdAt: new Date(),
  characters: 5,
  text: 'hello',
  encoding: 'utf-8',
  ...changes,
})
