// Finds passages by meaning: their vectors, small enough to be compared one by one in memory.
import { LRUCache } from 'lru-cache'
import type { DocumentRepository, DocumentRow } from '../db/repositories/documents.ts'
import type { VectorRepository } from '../db/repositories/vectors.ts'
import { errorText } from '../errors.ts'
import type { ProjectId } from '../protocol/ids.ts'
import type { Embedder, Embedding } from './embeddings.ts'

/** Passages asked about in one request. */
const EMBED_AT_ONCE = 64
const LOAD_AT_ONCE = 1_000
/** Vectors compared between two turns of the event loop: about a millisecond. */
const COMPARE_AT_ONCE = 500
/** The oldest of a project; more would take too long to be compared one by one. */
const MOST_VECTORS = 50_000
const CACHE_BYTES = 128 * 1024 * 1024
const QUESTION_MS = 5_000
/** Less alike than this is chance. */
const LEAST_SIMILARITY = 0.2

export interface VectorSearch {
  /** Makes the vectors of a document's passages. Never throws: without them it is found by its words alone. */
  index(document: Pick<DocumentRow, 'id' | 'projectId'>, signal: AbortSignal): Promise<void>
  /** Ids of the passages nearest to the question, nearest first; none when the endpoint does not answer. */
  nearest(projectId: ProjectId, question: string, limit: number): Promise<number[]>
  /** The project's passages changed. */
  forget(projectId: ProjectId): void
}

/** One project's vectors, each as signed bytes: its direction is all that counts, and bytes are near enough. */
interface Loaded {
  ids: number[]
  width: number
  bytes: Int8Array
}

export function createVectorSearch(parts: {
  documents: Pick<DocumentRepository, 'passagesOf'>
  vectors: VectorRepository
  embedder: Embedder
  log: { warn(details: object, message: string): void }
}): VectorSearch {
  const { documents, vectors, embedder, log } = parts
  const loaded = new LRUCache<ProjectId, Loaded>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes, ids }) => bytes.byteLength + ids.length * 8 + 1,
  })

  async function load(projectId: ProjectId): Promise<Loaded> {
    const known = loaded.get(projectId)
    if (known !== undefined) return known
    const ids: number[] = []
    const rows: Int8Array[] = []
    let width = 0
    for (let after = 0; ids.length < MOST_VECTORS; ) {
      const page = await vectors.page(projectId, embedder.model, after, LOAD_AT_ONCE)
      for (const { passageId, vector } of page) {
        const row = new Int8Array(Buffer.from(vector, 'base64'))
        if (width === 0) width = row.length
        after = passageId
        if (row.length !== width) continue
        ids.push(passageId)
        rows.push(row)
      }
      if (page.length < LOAD_AT_ONCE) break
    }
    const bytes = new Int8Array(rows.length * width)
    for (const [at, row] of rows.entries()) bytes.set(row, at * width)
    const all = { ids, width, bytes }
    loaded.set(projectId, all)
    return all
  }

  return {
    forget: (projectId) => void loaded.delete(projectId),

    async index({ id, projectId }, signal) {
      try {
        for (let from = 0; ; from += EMBED_AT_ONCE) {
          const passages = await documents.passagesOf(projectId, id, from, EMBED_AT_ONCE)
          if (passages.length === 0 || signal.aborted) return
          const texts = passages.map(({ heading, text }) => `${heading ?? ''}\n${text}`.trim())
          const found = await embedder.embed(texts, signal)
          await vectors.put(
            passages.map((passage, at) => ({
              passageId: passage.id,
              projectId,
              model: embedder.model,
              vector: Buffer.from(toBytes(found[at] ?? [])).toString('base64'),
            })),
          )
        }
      } catch (error) {
        if (!signal.aborted)
          log.warn({ document: id, cause: errorText(error) }, 'a document is found by words only')
      } finally {
        loaded.delete(projectId)
      }
    },

    async nearest(projectId, question, limit) {
      try {
        const all = await load(projectId)
        if (all.ids.length === 0) return []
        const [asked] = await embedder.embed([question], AbortSignal.timeout(QUESTION_MS))
        const wanted = toBytes(asked ?? [])
        return wanted.length === all.width ? await compare(all, wanted, limit) : []
      } catch (error) {
        log.warn({ cause: errorText(error) }, 'a question was asked by words only')
        return []
      }
    },
  }
}

const toBytes = (vector: Embedding): Int8Array => {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int8Array.from(vector, (value) =>
    largest === 0 ? 0 : Math.round((value / largest) * 127),
  )
}

/** By cosine, every one of them. */
async function compare(all: Loaded, wanted: Int8Array, limit: number): Promise<number[]> {
  const length = Math.sqrt(dot(wanted, wanted))
  const best: { id: number; similarity: number }[] = []
  for (const [at, id] of all.ids.entries()) {
    if (at % COMPARE_AT_ONCE === 0 && at > 0) await new Promise((resolve) => setImmediate(resolve))
    const start = at * all.width
    const row = all.bytes.subarray(start, start + all.width)
    const similarity = dot(wanted, row) / (length * Math.sqrt(dot(row, row)) || 1)
    if (similarity < LEAST_SIMILARITY) continue
    if (best.length >= limit && similarity <= (best.at(-1)?.similarity ?? 0)) continue
    best.push({ id, similarity })
    best.sort((a, b) => b.similarity - a.similarity)
    if (best.length > limit) best.pop()
  }
  return best.map(({ id }) => id)
}

function dot(a: Int8Array, b: Int8Array): number {
  let total = 0
  for (let at = 0; at < a.length; at += 1) total += (a[at] ?? 0) * (b[at] ?? 0)
  return total
}
