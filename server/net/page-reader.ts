// Has pages parsed in worker threads that are killed when a page takes too long, and never blocks the server.
import type { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { linkedController, untilAborted } from '../lib/abort.ts'
import { startWorker } from '../lib/child-entry.ts'
import type { ParseAnswer, ParseJob } from './page.child.ts'
import type { PageContent, PageJob } from './page-content.ts'
import type { SearchHit } from './search-page.ts'

export interface PageReader {
  /** Never throws. */
  read(job: Omit<PageJob, 'plain'>, signal: AbortSignal): Promise<PageContent>
  /** The hits of a search page; null when it is none or could not be read. */
  readSearch(html: string, signal: AbortSignal): Promise<SearchHit[] | null>
  close(): Promise<void>
}

const FIRST_TRY_MS = 8_000
const SECOND_TRY_MS = 8_000
const IDLE_MS = 60_000
/** Loading the parsers takes a tenth of a second, on a very busy machine much longer. */
const START_MS = 30_000
const THREADS = 2
/** Deep pages need a deep stack; what is deeper still ends in an error that is caught. */
const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 }

/** @param options.firstTryMs time for a page before it is tried again in the plainest way. */
export function createPageReader(options: { firstTryMs?: number } = {}): PageReader {
  const threads = Array.from({ length: THREADS }, () =>
    createThread(options.firstTryMs ?? FIRST_TRY_MS),
  )
  /** A page that takes its whole time must not hold up everybody else's. */
  const leastBusy = (): Thread =>
    threads.reduce((best, thread) => (thread.waiting() < best.waiting() ? thread : best))
  return {
    read: (job, signal) => leastBusy().read(job, signal),
    readSearch: (html, signal) => leastBusy().readSearch(html, signal),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

interface Thread extends PageReader {
  /** Jobs that it has not done yet. */
  waiting(): number
}

/** One worker thread, started for its first job and dismissed when it has been idle for long. */
function createThread(firstTryMs: number): Thread {
  const oneAtATime = pLimit(1)
  let worker: Worker | undefined
  let waiting: { resolve(answer: ParseAnswer): void; reject(error: Error): void } | undefined
  let idle: NodeJS.Timeout | undefined

  function hire(): Worker {
    const hired = startWorker('net/page.child', { resourceLimits: LIMITS, env: {} })
    const gone = (error: Error): void => {
      if (worker !== hired) return
      worker = undefined
      waiting?.reject(error)
    }
    hired.on('message', (answer: ParseAnswer) => {
      if (worker === hired) waiting?.resolve(answer)
    })
    hired.on('error', gone)
    hired.on('exit', () => gone(new Error('The reader has ended')))
    return hired
  }

  async function dismiss(): Promise<void> {
    const last = worker
    worker = undefined
    clearTimeout(idle)
    await last?.terminate()
  }

  /** The next message of the worker. Rejects, with the worker gone, when it fails, takes too long or is not wanted. */
  async function nextMessage(
    mine: Worker,
    task: ParseJob | null,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<ParseAnswer> {
    const { controller, release } = linkedController(signal)
    const timer = setTimeout(() => controller.abort(new Error('Takes too long')), limitMs)
    try {
      const answered = new Promise<ParseAnswer>((resolve, reject) => {
        waiting = { resolve, reject }
      })
      if (task !== null) mine.postMessage(task)
      return await untilAborted(answered, controller.signal)
    } catch (error) {
      await dismiss()
      throw error
    } finally {
      waiting = undefined
      clearTimeout(timer)
      release()
    }
  }

  /** One job in the worker, which is started when there is none. */
  async function parse(task: ParseJob, limitMs: number, signal: AbortSignal): Promise<ParseAnswer> {
    clearTimeout(idle)
    const isNew = worker === undefined
    worker ??= hire()
    const mine = worker
    mine.ref()
    try {
      if (isNew) await nextMessage(mine, null, START_MS, signal)
      return await nextMessage(mine, task, limitMs, signal)
    } finally {
      mine.unref()
      idle = setTimeout(() => void dismiss(), IDLE_MS).unref()
    }
  }

  async function readContent(
    job: Omit<PageJob, 'plain'>,
    signal: AbortSignal,
  ): Promise<PageContent> {
    for (const plain of [false, true]) {
      if (signal.aborted) break
      try {
        const task: ParseJob = { kind: 'page', job: { ...job, plain } }
        const answer = await parse(task, plain ? SECOND_TRY_MS : firstTryMs, signal)
        if (answer.kind === 'page') return answer.content
      } catch {
        // The second try leaves out what may be slow; after that the page is given up.
      }
    }
    return {
      ok: false,
      error: 'This page could not be read: it is too large or too deeply nested.',
    }
  }

  return {
    read: (job, signal) => oneAtATime(() => readContent(job, signal)),
    readSearch: (html, signal) =>
      oneAtATime(async () => {
        try {
          const answer = await parse({ kind: 'search', html }, firstTryMs, signal)
          return answer.kind === 'search' ? answer.hits : null
        } catch {
          return null
        }
      }),
    waiting: () => oneAtATime.activeCount + oneAtATime.pendingCount,
    close: dismiss,
  }
}
