// The worker thread in which pages from outside are parsed, so that none of them can hold up the server.
import { parentPort } from 'node:worker_threads'
import { type PageContent, type PageJob, readPage } from './page-content.ts'
import { readSearchPage, type SearchHit } from './search-page.ts'

export type ParseJob = { kind: 'page'; job: PageJob } | { kind: 'search'; html: string }
/** `ready` comes once, before all answers: the time of a page begins when its reader is there. */
export type ParseAnswer =
  | { kind: 'ready' }
  | { kind: 'page'; content: PageContent }
  | { kind: 'search'; hits: SearchHit[] | null }

parentPort?.on('message', (task: ParseJob) => {
  answerTo(task)
    .then((answer) => parentPort?.postMessage(answer))
    .catch((error: unknown) => {
      throw error // ends the thread; its owner takes that as a failed try
    })
})

async function answerTo(task: ParseJob): Promise<ParseAnswer> {
  return task.kind === 'page'
    ? { kind: 'page', content: await readPage(task.job) }
    : { kind: 'search', hits: readSearchPage(task.html) }
}

parentPort?.postMessage({ kind: 'ready' } satisfies ParseAnswer)
