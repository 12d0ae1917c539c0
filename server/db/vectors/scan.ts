// Compares vectors one by one where the database cannot: page by page, without caching or blocking the event loop.
import { cosineDistance, signedBytes } from './cosine.ts'

interface StoredVector {
  passageId: number
  vector: Buffer
}

const PAGE_VECTORS = 1_000
/** Vectors compared before yielding to the event loop: about a millisecond. */
const VECTORS_PER_SLICE = 500
/** Maximum duration of a query, checked after each page. */
const MAX_SCAN_MS = 4_000

/**
 * The `limit` nearest vectors, nearest first. `complete` is false when the time limit ended the scan early.
 * @param pages reads up to `count` vectors after a passage, in the order of passage ids.
 */
export async function scanVectors(
  pages: (after: number, count: number) => Promise<StoredVector[]>,
  query: Buffer,
  limit: number,
): Promise<{ near: { passageId: number; similarity: number }[]; complete: boolean }> {
  const queryVector = signedBytes(query)
  const near: { passageId: number; similarity: number }[] = []
  const deadline = performance.now() + MAX_SCAN_MS
  for (let after = 0; ; ) {
    const page = await pages(after, PAGE_VECTORS)
    for (const [index, { passageId, vector }] of page.entries()) {
      if (index % VECTORS_PER_SLICE === VECTORS_PER_SLICE - 1) await nextTurn()
      after = passageId
      if (vector.length !== queryVector.length) continue
      const distance = cosineDistance(queryVector, signedBytes(vector))
      if (distance === null) continue
      const similarity = 1 - distance
      if (near.length >= limit && similarity <= (near.at(-1)?.similarity ?? 0)) continue
      near.push({ passageId, similarity })
      near.sort((a, b) => b.similarity - a.similarity)
      if (near.length > limit) near.pop()
    }
    if (page.length < PAGE_VECTORS) return { near, complete: true }
    if (performance.now() >= deadline) return { near, complete: false }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
