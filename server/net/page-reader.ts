// Has pages parsed in a worker thread that is killed when one takes too long, and never blocks the server.
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
/** Deep pages need a deep stack; what is deeper still ends in an error that is caught. */
const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 }

/** @param options.firstTryMs time for a page before it is tried again in the plainest way. */
export function createPageReader(options: { firstTryMs?: number } = {}): PageReader {
  const firstTryMs = options.firstTryMs ?? FIRST_TRY_MS
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

  /** One job in the worker. Rejects, with the worker gone, when it fails, takes too long or is no longer wanted. */
  async function parse(task: ParseJob, limitMs: number, signal: AbortSignal): Promise<ParseAnswer> {
    clearTimeout(idle)
    worker ??= hire()
    const mine = worker
    mine.ref()
    const { controller, release } = linkedController(signal)
    const timer = setTimeout(() => controller.abort(new Error('Takes too long')), limitMs)
    try {
      const answered = new Promise<ParseAnswer>((resolve, reject) => {
        waiting = { resolve, reject }
      })
      mine.postMessage(task)
      return await untilAborted(answered, controller.signal)
    } catch (error) {
      await dismiss()
      throw error
    } finally {
      waiting = undefined
      clearTimeout(timer)
      release()
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
    close: dismiss,
  }
}
