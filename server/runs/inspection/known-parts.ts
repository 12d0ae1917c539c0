// Which parts of prompts are stored: remembered for conversations that were active just now.
import { LRUCache } from 'lru-cache'
import type { RunRecordRepository } from '../../db/repositories/runs/run-records.ts'
import type { ConversationId } from '../../protocol/ids.ts'

/** Hashes of all conversations that are remembered. */
const MAX_HASHES = 100_000
/** Parts may be removed with what names them, here or by another instance; a part that is sent again is missed for this long. */
const REMEMBERED_MS = 60_000

/** The stored parts of a conversation. Whoever stores more adds them. */
export interface StoredParts {
  hashes: Set<string>
  /** Of all contents. */
  bytes: number
  /** When they were read, on the clock of `performance.now`. */
  readAt: number
}

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
      const readAt = performance.now()
      for (const id of new Set(ids)) {
        const known = remembered.get(id)
        // Forgotten with what is added now, unless that is stored.
        remembered.delete(id)
        if (known !== undefined && readAt - known.readAt < REMEMBERED_MS) found.set(id, known)
        else {
          unknown.push(id)
          found.set(id, { hashes: new Set(), bytes: 0, readAt })
        }
      }
      for (const { conversationId, hash, bytes } of await knownParts(unknown)) {
        const stored = found.get(conversationId)
        stored?.hashes.add(hash)
        if (stored !== undefined) stored.bytes += bytes
      }
      return found
    },
    remember(stored) {
      for (const [id, parts] of stored) remembered.set(id, parts)
    },
  }
}
