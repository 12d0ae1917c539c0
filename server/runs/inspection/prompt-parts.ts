// The parts of prompts: which of a conversation are stored, those that are not yet (redacted, bounded and compressed), and their stored form.

import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { PromptPartRow, RunRecordRepository } from '../../db/repositories/runs/run-records.ts'
import { createTurns } from '../../lib/turns.ts'
import type { ConversationId } from '../../protocol/ids.ts'
import { hashOf, type TakePart } from './split-request.ts'

/** Longer parts are cut after this many characters. */
const MAX_PART_CHARACTERS = 500_000
/** Maximum compressed bytes of all parts of a conversation; further parts are not stored. */
const MAX_CONVERSATION_BYTES = 32 * 1024 * 1024
/** Longer texts are redacted in slices, because one regular expression over all of it would block the event loop. */
const REDACTED_AT_ONCE = 32_768
/** Many conversations share their tools and instructions, so their compressed form is cached. */
const compressed = new LRUCache<string, Buffer>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (content) => Math.max(1, content.length),
})

/** What the records of several runs add to the stored parts. */
export interface FreshParts {
  /** Returns the function that takes the parts of a conversation. */
  takeFor(conversationId: ConversationId): TakePart
  /** The rows of the taken parts that are not stored yet. */
  rows(): Promise<PromptPartRow[]>
}

/** @param stored what is stored of each conversation whose parts will be taken. Parts that are taken are added to it. */
export function createFreshParts(
  stored: ReadonlyMap<ConversationId, StoredParts>,
  redact: (text: string) => string,
): FreshParts {
  const fresh: { conversationId: ConversationId; of: StoredParts; hash: string; json: string }[] =
    []

  async function compress(
    hash: string,
    json: string,
    turn: ReturnType<typeof createTurns>,
  ): Promise<Buffer> {
    const known = compressed.get(hash)
    if (known !== undefined) return known
    let text = ''
    for (const slice of slicesOf(json.slice(0, MAX_PART_CHARACTERS))) {
      text += redact(slice)
      await turn()
    }
    const content = await packPart(text)
    if (json.length >= MIN_DEFLATED_CHARACTERS) compressed.set(hash, content)
    return content
  }

  return {
    takeFor(conversationId) {
      const of = stored.get(conversationId)
      if (of === undefined) throw new Error('unknown what is stored of this conversation')
      return (json) => {
        const hash = hashOf(json)
        if (!of.hashes.has(hash)) {
          of.hashes.add(hash)
          fresh.push({ conversationId, of, hash, json })
        }
        return hash
      }
    },
    async rows() {
      const turn = createTurns()
      const rows: PromptPartRow[] = []
      for (const { conversationId, of, hash, json } of fresh) {
        if (of.bytes > MAX_CONVERSATION_BYTES) continue
        const content = await compress(hash, json, turn)
        of.bytes += content.length
        of.count += 1
        rows.push({ conversationId, hash, characters: json.length, content })
      }
      return rows
    },
  }
}

/** Cuts a text between words, so that no secret is split. */
function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const limit = from + REDACTED_AT_ONCE
    const space = limit < text.length ? text.lastIndexOf(' ', limit) : -1
    const end = space > from ? space : limit
    yield text.slice(from, end)
    from = end
  }
}

/** Maximum number of hashes for all remembered conversations. */
const MAX_HASHES = 100_000
/** The stored parts of a conversation. Code that stores more parts adds them here. */
interface StoredParts {
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

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Shorter texts are stored uncompressed. */
const MIN_DEFLATED_CHARACTERS = 1_500
/** The first byte tells how the rest is stored. */
const PLAIN = Buffer.from([0])
const DEFLATED = Buffer.from([1])
/** No part is this large; the limit prevents a damaged row from filling the memory. */
const MAX_BYTES = 4 * 1024 * 1024

/** Converts a text to the bytes that are stored. */
const packPart = async (text: string): Promise<Buffer> =>
  text.length < MIN_DEFLATED_CHARACTERS
    ? Buffer.concat([PLAIN, Buffer.from(text)])
    : Buffer.concat([DEFLATED, await deflate(text, { level: 3 })])

/** Returns the text that `packPart` was given. */
export async function readPart(content: Buffer): Promise<string> {
  const rest = content.subarray(1)
  const bytes = content[0] === 1 ? await inflate(rest, { maxOutputLength: MAX_BYTES }) : rest
  return bytes.toString('utf8')
}
