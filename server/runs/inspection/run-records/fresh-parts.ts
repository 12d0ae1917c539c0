// Collects parts of prompts that are not stored yet: redacted, bounded and compressed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { PromptPartRow } from '../../../db/repositories/runs/run-records.ts'
import type { ConversationId } from '../../../protocol/ids.ts'
import { MIN_DEFLATED_CHARACTERS, packPart } from '../part-content.ts'
import { hashOf, type TakePart } from '../split-request.ts'
import type { StoredParts } from './known-parts.ts'

/** Longer parts are cut after this many characters. */
const MAX_PART_CHARACTERS = 500_000
/** Maximum compressed bytes of all parts of a conversation; further parts are not stored. */
const MAX_CONVERSATION_BYTES = 32 * 1024 * 1024
/** Longer texts are redacted in slices, because one regular expression over all of it would block the event loop. */
const REDACTED_AT_ONCE = 32_768
/** Work yields to the event loop after this time. */
const SLICE_MS = 4
/** Many conversations share their tools and instructions, so their compressed form is cached. */
const compressed = new LRUCache<string, Buffer>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (content) => Math.max(1, content.length),
})

/** Returns a function that yields to the event loop once `SLICE_MS` have passed since the last yield. */
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
