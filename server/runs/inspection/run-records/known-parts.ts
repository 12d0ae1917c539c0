// Remembers which parts of prompts are stored, for recently active conversations.
import { LRUCache } from 'lru-cache'
import type { RunRecordRepository } from '../../../db/repositories/runs/run-records.ts'
import type { ConversationId } from '../../../protocol/ids.ts'

/** Maximum number of hashes for all remembered conversations. */
const MAX_HASHES = 100_000
/** The stored parts of a conversation. Code that stores more parts adds them here. */
export interface StoredParts {
  /** Includes parts that were not stored because the conversation has too many. */
  hashes: Set<string>
  /** Number of stored parts. If a purge here or in another instance lowers it, the remembered value is outdated. */
  count: number
  /** Total size of the stored contents. */
  bytes: number
}

/** Remembers which parts are stored, so that most records need no query. */
export interface KnownParts {
  /** Returns what is stored of each of the conversations. One query reads those that are not remembered. */
  of(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, StoredParts>>
  /** Call it once the added parts are stored. */
  remember(stored: ReadonlyMap<ConversationId, StoredParts>): void
}

/** Create one per process. */
export function createKnownParts({
  knownParts,
}: Pick<RunRecordRepository, 'knownParts'>): KnownParts {
  const remembered = new LRUCache<ConversationId, StoredParts>({
    maxSize: MAX_HASHES,
    sizeCalculation: ({ hashes }) => hashes.size + 1,
  })
  return {
    async of(ids) {
      const found = new Map<ConversationId, StoredParts>()
      const unknown: ConversationId[] = []
      for (const id of new Set(ids)) {
        const known = remembered.get(id)
        // Forget the conversation until the added parts are stored.
        remembered.delete(id)
        if (known !== undefined) found.set(id, known)
        else {
          unknown.push(id)
          found.set(id, { hashes: new Set(), count: 0, bytes: 0 })
        }
      }
      for (const { conversationId, hash, bytes } of await knownParts(unknown)) {
        const stored = found.get(conversationId)
        if (stored === undefined) continue
        stored.hashes.add(hash)
        stored.count += 1
        stored.bytes += bytes
      }
      return found
    },
    remember(stored) {
      for (const [id, parts] of stored) remembered.set(id, parts)
    },
  }
}
