// The words of passages as the full-text index of documents contains them, and indexing them again after a change of the words.
import { desc, eq, lte } from 'drizzle-orm'
import { furtherWords, indexWords, PART_MARK } from '../../../lib/words.ts'
import type { Database, Writer } from '../../database.ts'
import { PASSAGE_PART_MARK } from '../../search-entries.ts'

/** A passage with what is indexed with it: the first one also has the words of its document's name. */
interface IndexedPassage {
  name: string
  position: number
  heading: string | null
  text: string
}

/** The words of a passage, and the parts of its compounds, separated by spaces. */
export function passageTokens({ name, position, heading, text }: IndexedPassage): string {
  const words = indexWords([position === 0 ? name : '', heading ?? '', text].join('\n'))
  return [...words, ...furtherWords(new Set(words))]
    .join(' ')
    .replaceAll(PART_MARK, PASSAGE_PART_MARK)
}

/** Every method with `tx` runs in the caller's transaction. */
export function createPassageWords({ read, tables: { passages, documents } }: Database) {
  return {
    /** The newest passage, from which `reindex` begins; 0 without passages. */
    async newest(): Promise<number> {
      const [newest] = await read
        .select({ id: passages.id })
        .from(passages)
        .orderBy(desc(passages.id))
        .limit(1)
      return newest?.id ?? 0
    },

    /**
     * Indexes the newest passages up to one again, at most `limit` of them. Returns the passage that the next call continues
     * from; 0 when nothing is left.
     */
    async reindex(tx: Writer, upTo: number, limit: number): Promise<number> {
      const found = await tx
        .select({
          id: passages.id,
          name: documents.name,
          position: passages.position,
          heading: passages.heading,
          text: passages.text,
          tokens: passages.tokens,
        })
        .from(passages)
        .innerJoin(documents, eq(documents.id, passages.documentId))
        .where(lte(passages.id, upTo))
        .orderBy(desc(passages.id))
        .limit(limit)
      for (const { id, tokens: before, ...passage } of found) {
        const tokens = passageTokens(passage)
        if (tokens !== before) await tx.update(passages).set({ tokens }).where(eq(passages.id, id))
      }
      const last = found.at(-1)
      return found.length < limit || last === undefined ? 0 : last.id - 1
    },
  }
}
