// The parts of prompts that are not stored yet: without secrets, bounded, compressed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { PromptPartRow } from '../../db/repositories/runs/run-records.ts'
import type { ConversationId } from '../../protocol/ids.ts'
import type { StoredParts } from './known-parts.ts'
import { MIN_DEFLATED_CHARACTERS, packPart } from './part-content.ts'
import { hashOf, type TakePart } from './split-request.ts'

/** Of a longer part, only its beginning is stored. */
const MAX_PART_CHARACTERS = 500_000
/** Compressed bytes of all parts of a conversation; what comes after that is not stored. */
const MAX_CONVERSATION_BYTES = 32 * 1024 * 1024
/** A regular expression over more than this takes too long at once. */
const REDACTED_AT_ONCE = 32_768
/** The event loop is not blocked for longer. */
const SLICE_MS = 4
/** Tools and instructions are the same in many conversations. */
const compressed = new LRUCache<string, Buffer>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (content) => Math.max(1, content.length),
})

/** Lets others work when this has worked for long enough. */
export function createPause(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < SLICE_MS) return
    await nextTurn()
    since = performance.now()
  }
}

/** What the records of several runs add to the stored parts. */
export interface FreshParts {
  /** Takes the parts of a conversation. */
  takeFor(conversationId: ConversationId): TakePart
  /** The rows of those that are not stored yet. */
  rows(): Promise<PromptPartRow[]>
}

/** @param stored what is stored of each conversation whose parts will be taken; what is taken is added. */
export function createFreshParts(
  stored: ReadonlyMap<ConversationId, StoredParts>,
  redact: (text: string) => string,
): FreshParts {
  const fresh: { conversationId: ConversationId; of: StoredParts; hash: string; json: string }[] =
    []

  async function compress(hash: string, json: string, pause: () => Promise<void>): Promise<Buffer> {
    const known = compressed.get(hash)
    if (known !== undefined) return known
    let text = ''
    for (const slice of slicesOf(json.slice(0, MAX_PART_CHARACTERS))) {
      text += redact(slice)
      await pause()
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
      const pause = createPause()
      const rows: PromptPartRow[] = []
      for (const { conversationId, of, hash, json } of fresh) {
        if (of.bytes > MAX_CONVERSATION_BYTES) continue
        const content = await compress(hash, json, pause)
        of.bytes += content.length
        of.count += 1
        rows.push({ conversationId, hash, characters: json.length, content })
      }
      return rows
    },
  }
}

/** Cuts a text between words, so that no secret is cut. */
function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const limit = from + REDACTED_AT_ONCE
    const space = limit < text.length ? text.lastIndexOf(' ', limit) : -1
    const end = space > from ? space : limit
    yield text.slice(from, end)
    from = end
  }
}
