// `nanoclaw export`: writes the bundle of a user while the server is stopped.
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import type { Config } from '../config/schema.ts'
import { blobPlace } from '../config/settings.ts'
import { createChannelRepository } from '../db/repositories/deliveries/channels.ts'
import { createStore } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { blobReader } from '../files/open-blobs.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import type { BundleManifest } from '../protocol/conversations/export.ts'
import { createReceipts } from '../receipts/receipts.ts'
import { writeBundle } from '../transfer/write-bundle.ts'
import { createWorkspaces } from '../workspace/workspaces.ts'
import { whileServerIsStopped } from './stopped-server.ts'

/**
 * @param username by default the user of single mode.
 * @throws AppError with a text for the operator: a server runs, the user does not exist, or the file exists.
 */
export async function exportOffline(
  config: Config,
  target: string,
  username = 'default',
): Promise<BundleManifest['counts']> {
  const exists = await unlessMissing(stat(target))
  if (exists !== null)
    throw new AppError('conflict', `${target} already exists. Choose another name.`)
  return whileServerIsStopped(config, 'export', async (database) => {
    const store = createStore(database)
    const channels = createChannelRepository(database)
    const user = await store.users.findByName(username)
    if (user === undefined)
      throw new AppError(
        'not_found',
        `No user ${JSON.stringify(username)}. Specify one: nanoclaw export <file> <user>`,
      )
    const { file_read: fileRead, file_write: fileWrite, project } = config.limits
    const unfinished = `${target}.part`
    try {
      const counts = await writeBundle(
        {
          store,
          receipts: createReceipts({
            ledger: store.ledger,
            // They were counted when the runs ended.
            countLines: async (_owner, files) => files.map(() => ({ added: null, removed: null })),
          }),
          listChannels: (userId) => channels.list(userId),
          blobs: await blobReader(blobPlace(config)),
          workspaces: await createWorkspaces({
            root: config.workspace_root,
            limits: { fileRead, fileWrite, project },
          }),
          now: () => new Date(),
        },
        {
          userId: user.id,
          conversationIds: null,
          signal: new AbortController().signal,
          onProgress() {},
        },
        createWriteStream(unfinished, { mode: 0o600 }),
      )
      await rename(unfinished, target)
      await database.write((tx) =>
        store.audit.record(tx, COMMAND_LINE, {
          action: 'exported',
          at: new Date(),
          details: { account: user.username },
        }),
      )
      return counts
    } finally {
      await rm(unfinished, { force: true })
    }
  })
}
