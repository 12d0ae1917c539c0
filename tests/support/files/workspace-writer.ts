// A child process that overwrites one file of a project again and again until it is killed; prints a dot for each time.
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'
import { createWorkspaces } from '../../../server/workspace/workspaces.ts'

const [, , root = '', user = '', project = ''] = process.argv
const limits = { fileRead: 1e7, fileWrite: 1e7, project: 1e8 }
const workspaces = await createWorkspaces({ root, limits })
// The test passes the ids that it has made.
const workspace = workspaces.open(user as UserId, project as ProjectId)
for (let turn = 0; ; turn += 1) {
  await workspace.write('data', Buffer.alloc(2_000_000, turn % 2 === 1 ? 'a' : 'b'))
  process.stdout.write('.')
}
