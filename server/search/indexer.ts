// Indexes in the background: texts from before the search index existed, newest first, and the rest of long attachments.
import { setTimeout } from 'node:timers/promises'
import type { Database, StoreLog } from '../db/database.ts'
import { PROGRESS_KEYS } from '../db/search-progress.ts'
import type { Store } from '../db/store.ts'
import { type Pass, Progress } from './progress.ts'

/** Messages per transaction, and the pause after it, so that other writers come first. */
const MESSAGE_BATCH_SIZE = 10
const TITLE_BATCH_SIZE = 50
const PASSAGE_BATCH_SIZE = 10
const PAUSE_MS = 20
/** How often the indexer looks for attachments that are too long to be indexed with their message. */
const LOOK_EVERY_MS = 10_000
/**
 * How long after the start the index is packed. By then, an upgrade has replaced all instances; instances of the previous
 * version do not find packed entries.
 */
const PACK_AFTER_MS = 10 * 60_000
/** How often deleted messages are removed from the packed index, which may rewrite much of it. */
const REMOVE_EVERY_MS = 10 * 60_000

type MessagePass = Exclude<Pass, 'passages'>

/** The background task that indexes messages for the search. */
export interface SearchIndexer {
  /**
   * Indexes what is missing. Resolves when all is done or `stop` was called. Until then, later additions are indexed, too.
   */
  run(): Promise<void>
  stop(): Promise<void>
}

/** What the indexer works on, and its state. */
interface Indexer extends Pick<Store, 'search' | 'settings'> {
  database: Pick<Database, 'write'>
  log: StoreLog
  stopping: AbortController
  /** Whether everything is indexed, so that the index may be packed. */
  isIndexed: boolean
  /** When packing may begin, and when deleted messages are removed next. */
  packFrom: number
  removeFrom: number
  /** The next look for long attachments, and the one in progress. */
  timer: NodeJS.Timeout | undefined
  looking: Promise<void> | undefined
}

/** Does nothing until it is started. Its progress is stored, so that a restart continues. */
export function createSearchIndexer(
  { search, settings }: Pick<Store, 'search' | 'settings'>,
  database: Pick<Database, 'write'>,
  log: StoreLog,
): SearchIndexer {
  let running: Promise<void> | undefined
  const packFrom = performance.now() + PACK_AFTER_MS
  const indexer: Indexer = {
    search,
    settings,
    database,
    log,
    stopping: new AbortController(),
    isIndexed: false,
    packFrom,
    removeFrom: packFrom,
    timer: undefined,
    looking: undefined,
  }

  return {
    run() {
      running ??= work(indexer)
        .catch((error) => report(indexer, error))
        .then(() => keepLooking(indexer))
      return running
    },
    async stop() {
      indexer.stopping.abort()
      clearTimeout(indexer.timer)
      await running
      clearTimeout(indexer.timer)
      await indexer.looking
    },
  }
}

async function begin({ settings, search }: Indexer, pass: Pass): Promise<Progress> {
  const stored = await settings.get(PROGRESS_KEYS[pass], Progress)
  if (stored !== undefined) return stored
  const newest = await (pass === 'passages' ? search.passageWords.newest() : search.newestRow())
  // Stored at once: everything after this is indexed when it is written.
  const begun = { from: newest, next: newest }
  await settings.store(PROGRESS_KEYS[pass], begun)
  return begun
}

async function work(indexer: Indexer): Promise<void> {
  const { log, stopping, database, search } = indexer
  const missing = await begin(indexer, 'missing')
  const characters = await begin(indexer, 'characters')
  const words = await begin(indexer, 'words')
  const passages = await begin(indexer, 'passages')
  if (missing.next > 0)
    log.info({ messages: missing.next }, 'indexing older messages for the search')
  while (!stopping.signal.aborted) {
    const titles = await database.write((tx) => search.stored.indexTitles(tx, TITLE_BATCH_SIZE))
    if (titles < TITLE_BATCH_SIZE) break
    await pause(indexer)
  }
  await pass(indexer, 'missing', missing)
  if (characters.next > 0)
    log.info({ messages: characters.next }, 'indexing single characters of older messages')
  await again(indexer, 'characters', characters)
  if (words.next > 0)
    log.info({ messages: words.next }, 'indexing parts of words and emoji of older messages')
  await again(indexer, 'words', words)
  if (passages.next > 0) log.info({}, 'indexing parts of words in the documents of projects')
  await passagesAgain(indexer, passages)
  indexer.isIndexed = !stopping.signal.aborted
}

/** Indexes again the passages of documents that an older version has indexed. */
async function passagesAgain(indexer: Indexer, { from, next: first }: Progress): Promise<void> {
  const { stopping, database, search, settings } = indexer
  for (let next = first; next > 0 && !stopping.signal.aborted; ) {
    const upTo = next
    next = await database.write(async (tx) => {
      const left = await search.passageWords.reindex(tx, upTo, PASSAGE_BATCH_SIZE)
      await settings.set(tx, PROGRESS_KEYS.passages, { from, next: left })
      return left
    })
    await pause(indexer)
  }
}

/** Indexes again what an older version has indexed: titles, then messages. Nothing if that is done. */
async function again(
  indexer: Indexer,
  name: Exclude<MessagePass, 'missing'>,
  progress: Progress,
): Promise<void> {
  const { stopping, database, search } = indexer
  if (progress.next === 0) return
  for (let after: number | null = 0; after !== null && !stopping.signal.aborted; ) {
    const from: number = after
    after = await database.write((tx) =>
      search.stored.reindexTitles(tx, from, TITLE_BATCH_SIZE, name),
    )
    await pause(indexer)
  }
  await pass(indexer, name, progress)
}

/** Indexes from the newest to the oldest message, each with all of its attachments. */
async function pass(
  indexer: Indexer,
  name: MessagePass,
  { from, next: first }: Progress,
): Promise<void> {
  const { stopping, database, search, settings } = indexer
  await indexFiles(indexer)
  for (let next = first; next > 0 && !stopping.signal.aborted; ) {
    const upTo = next
    next = await database.write(async (tx) => {
      const left = await search.stored.indexMessages(tx, upTo, MESSAGE_BATCH_SIZE, name)
      await settings.set(tx, PROGRESS_KEYS[name], { from, next: left })
      return left
    })
    await indexFiles(indexer)
    await pause(indexer)
  }
}

/** Indexes the rest of long attachments. */
async function indexFiles(indexer: Indexer): Promise<void> {
  const { stopping, search } = indexer
  while (!stopping.signal.aborted && (await search.indexNextPart())) await pause(indexer)
}

/** Packs the index once it is complete, including its single characters. */
async function pack(indexer: Indexer): Promise<void> {
  const { packFrom, stopping, search } = indexer
  if (!indexer.isIndexed || performance.now() < packFrom) return
  while (!stopping.signal.aborted && (await search.segments.addVocabulary())) await pause(indexer)
  while (!stopping.signal.aborted && (await search.segments.packNext())) await pause(indexer)
  if (stopping.signal.aborted || performance.now() < indexer.removeFrom) return
  indexer.removeFrom = performance.now() + REMOVE_EVERY_MS
  await search.segments.dropRemoved()
}

function keepLooking(indexer: Indexer): void {
  const { stopping } = indexer
  if (stopping.signal.aborted) return
  indexer.timer = globalThis.setTimeout(() => {
    indexer.looking = indexFiles(indexer)
      .then(() => pack(indexer))
      .catch((error) => report(indexer, error))
      .then(() => keepLooking(indexer))
  }, LOOK_EVERY_MS)
  indexer.timer.unref()
}

const report = ({ log }: Indexer, error: unknown): void =>
  log.warn({ err: error }, 'texts could not be indexed; the next attempt or start continues')

/** Ends early, without an error, when indexing is stopped. */
const pause = ({ stopping }: Indexer): Promise<void> =>
  setTimeout(PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
