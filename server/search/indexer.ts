// Indexes in the background: what was stored before the search index existed, newest first, and the rest of long attachments.
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import type { Database, StoreLog } from '../db/database.ts'
import type { Store } from '../db/store.ts'

/** Messages indexed in one transaction, and the pause after it: other writers come first. */
const MESSAGE_BATCH_SIZE = 10
const TITLE_BATCH_SIZE = 50
const PAUSE_MS = 20
/** How often it is looked for attachments that are too long to be indexed with their message. */
const LOOK_EVERY_MS = 10_000

const KEY = 'search-index'
/** `from`: the newest message when indexing began. `next`: where to continue; 0 when all are indexed. */
const Progress = z.object({ from: z.int().min(0), next: z.int().min(0) })
type Progress = z.infer<typeof Progress>

export interface SearchIndexer {
  /** Indexes what is missing; resolves when all is done or `stop` was called. Until then, what is added later is indexed too. */
  run(): Promise<void>
  stop(): Promise<void>
  /** Share of the stored messages that are indexed, from 0 to 1; 0 until `run` has read how far it is. */
  share(): number
}

export function createSearchIndexer(
  { search, settings }: Pick<Store, 'search' | 'settings'>,
  database: Pick<Database, 'write'>,
  log: StoreLog,
): SearchIndexer {
  const stopping = new AbortController()
  let progress: Progress | null = null
  let running: Promise<void> | undefined
  let looking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function begin(): Promise<Progress> {
    const stored = await settings.get(KEY, Progress)
    if (stored !== undefined) return stored
    const newest = await search.newestRow()
    // Stored at once: what comes after this is indexed when it is written.
    await settings.put(KEY, { from: newest, next: newest })
    return { from: newest, next: newest }
  }

  async function work(): Promise<void> {
    const begun = await begin()
    const { from } = begun
    let { next } = begun
    progress = { from, next }
    if (next > 0) log.info({ messages: next }, 'indexing older messages for the search')
    while (!stopping.signal.aborted) {
      const titles = await database.write((tx) =>
        search.index.putStoredTitles(tx, TITLE_BATCH_SIZE),
      )
      if (titles < TITLE_BATCH_SIZE) break
      await pause()
    }
    while (next > 0 && !stopping.signal.aborted) {
      const upTo = next
      next = await database.write(async (tx) => {
        const left = await search.index.putStored(tx, upTo, MESSAGE_BATCH_SIZE)
        await settings.set(tx, KEY, { from, next: left })
        return left
      })
      progress = { from, next }
      await pause()
    }
  }

  /** Indexes the rest of long attachments. */
  async function indexFiles(): Promise<void> {
    while (!stopping.signal.aborted && (await search.indexNextPart())) await pause()
  }

  function keepLooking(): void {
    if (stopping.signal.aborted) return
    timer = globalThis.setTimeout(() => {
      looking = indexFiles().catch(report).then(keepLooking)
    }, LOOK_EVERY_MS)
    timer.unref()
  }

  const report = (error: unknown): void =>
    log.warn({ err: error }, 'texts were not indexed; the next try or start continues')

  /** Ends early, without an error, when indexing is stopped. */
  const pause = (): Promise<void> =>
    setTimeout(PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)

  return {
    run() {
      running ??= work().then(indexFiles).catch(report).then(keepLooking)
      return running
    },
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      await looking
    },
    share() {
      if (progress === null) return 0
      return progress.from === 0 ? 1 : 1 - progress.next / progress.from
    },
  }
}
