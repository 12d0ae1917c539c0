// Parses pages in worker threads, which are terminated when a page takes too long; never blocks the server.
import { createFairQueue } from '../lib/fair-queue.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { ParseJob, ParseResult } from './page.child.ts'
import type { PageContent, PageJob } from './page-content.ts'
import type { SearchHit } from './search-page.ts'

/** Parses pages in worker threads, because they can be hostile. */
export interface PageReader {
  /** Never throws. @param owner the user for whom the page is read; users take turns. */
  read(job: Omit<PageJob, 'plain'>, signal: AbortSignal, owner?: string): Promise<PageContent>
  /** The hits of a search page; null if it is not one or could not be read. */
  readSearch(html: string, signal: AbortSignal, owner?: string): Promise<SearchHit[] | null>
  close(): Promise<void>
}

const FIRST_ATTEMPT_TIMEOUT_MS = 8_000
const SECOND_ATTEMPT_TIMEOUT_MS = 8_000
const IDLE_MS = 60_000
/** Loading the parsers takes a tenth of a second; on a very busy machine, much longer. */
const START_TIMEOUT_MS = 30_000
const THREADS = 2
/** Deeply nested pages need a deep stack; one that still overflows it ends in an error that is caught. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 }

/**
 * @param options.firstAttemptTimeoutMs how long a page may take before it is parsed again in the plainest way.
 * @param options.threads how many pages are parsed at once.
 */
export function createPageReader({
  threads: size = THREADS,
  ...options
}: {
  firstAttemptTimeoutMs?: number
  threads?: number
} = {}): PageReader {
  const idle = Array.from({ length: size }, () =>
    createThread(options.firstAttemptTimeoutMs ?? FIRST_ATTEMPT_TIMEOUT_MS),
  )
  const threads = [...idle]
  const queue = createFairQueue({ size })
  const withThread = <T>(owner: string | undefined, work: (thread: PageReader) => Promise<T>) =>
    queue.run(owner ?? null, async () => {
      // There is a thread for each job that the queue admits. The one used last is warm.
      const thread = idle.pop()
      if (thread === undefined) throw new Error('no thread is free')
      try {
        return await work(thread)
      } finally {
        idle.push(thread)
      }
    })
  return {
    read: (job, signal, owner) => withThread(owner, (thread) => thread.read(job, signal)),
    readSearch: (html, signal, owner) =>
      withThread(owner, (thread) => thread.readSearch(html, signal)),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

/** One worker thread, which parses one page at a time. */
function createThread(firstAttemptTimeoutMs: number): PageReader {
  const client = createWorkerClient<ParseJob, ParseResult>('net/page.child', {
    worker: { resourceLimits: RESOURCE_LIMITS, env: {} },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: () => new Error('The page takes too long to parse'),
  })

  async function readContent(
    job: Omit<PageJob, 'plain'>,
    signal: AbortSignal,
  ): Promise<PageContent> {
    for (const plain of [false, true]) {
      if (signal.aborted) break
      try {
        const timeoutMs = plain ? SECOND_ATTEMPT_TIMEOUT_MS : firstAttemptTimeoutMs
        const result = await client.request(
          { kind: 'page', job: { ...job, plain } },
          { timeoutMs, signal },
        )
        if (result.kind === 'page') return result.content
      } catch {
        // The second attempt omits everything that may be slow. If it fails, too, the page is unreadable.
      }
    }
    return {
      ok: false,
      error: 'This page could not be read: it is too large or too deeply nested.',
      reason: 'page_unreadable',
    }
  }

  return {
    read: readContent,
    async readSearch(html, signal) {
      try {
        const result = await client.request(
          { kind: 'search', html },
          { timeoutMs: firstAttemptTimeoutMs, signal },
        )
        return result.kind === 'search' ? result.hits : null
      } catch {
        return null
      }
    },
    close: () => client.close(),
  }
}
