// Which parts of prompts are stored: remembered for conversations that were active just now.
import { LRUCache } from 'lru-cache'
import type { RunRecordRepository } from '../../db/repositories/runs/run-records.ts'
import type { ConversationId } from '../../protocol/ids.ts'

/** Hashes of all conversations that are remembered. */
const MAX_HASHES = 100_000
/** The stored parts of a conversation. Whoever stores more adds them. */
export interface StoredParts {
  /** Also of parts that were left out because the conversation has too many. */
  hashes: Set<string>
  /** How many are stored. A purge lowers the number, here or in another instance: what is remembered is then wrong. */
  count: number
  /** Of all contents. */
  bytes: number
}

/** Remembers which parts are stored, so that most records need no query. */
export interface KnownParts {
  /** What is stored of each of these conversations; reads those that are not remembered, with one query. */
  of(ids: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, StoredParts>>
  /** Call it when what was added to them is stored. */
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
        // Forgotten with what is added now, unless that is stored.
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
