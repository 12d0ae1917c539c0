// Reports what a user stores, by kind, so that it can be found and deleted.
import type { Store } from '../db/store.ts'
import type { StorageUse } from '../protocol/accounts/quota.ts'
import type { UserId } from '../protocol/ids.ts'

/**
 * Returns the report of one user. Everything that counts as storage is in one of its kinds.
 * @param dependencies.measure measures the projects of a user whose size is not known.
 */
export const createStorageUse =
  ({
    storage,
    measure,
    texts,
    limitOf,
  }: {
    storage: Pick<Store['storage'], 'stored' | 'history'>
    measure(userId: UserId): Promise<unknown>
    texts: Store['storage']['texts']
    limitOf(userId: UserId): number
  }) =>
  async (userId: UserId): Promise<StorageUse> => {
    await measure(userId)
    const { projects, files, documents } = await storage.stored(userId)
    const history = await storage.history(userId)
    const { conversations, shares } = await texts(userId)
    const used = projects.bytes + files.bytes + documents.bytes
    return {
      limit: limitOf(userId),
      used,
      used_with_texts: used + conversations.bytes + shares.bytes,
      items: [
        { kind: 'projects', ...projects },
        { kind: 'history', bytes: history, count: null },
        { kind: 'files', ...files },
        { kind: 'documents', ...documents },
        { kind: 'conversations', ...conversations },
        { kind: 'shares', ...shares },
      ],
    }
  }
