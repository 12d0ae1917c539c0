// The worker thread that parses pages from outside, so that no page can block the server.
import { serveRequests } from '../lib/worker-server.ts'
import { type PageContent, type PageJob, readPage } from './page-content.ts'
import { readSearchPage, type SearchHit } from './search-page.ts'

/** A job for the child process: a page, or the result page of a search service. */
export type ParseJob = { kind: 'page'; job: PageJob } | { kind: 'search'; html: string }
/** The result of a `ParseJob`. `hits` is null if the page is not a result page. */
export type ParseResult =
  | { kind: 'page'; content: PageContent }
  | { kind: 'search'; hits: SearchHit[] | null }

// A page that makes the parser throw ends the thread. `page-reader` counts that as a failed attempt.
serveRequests(
  async (job: ParseJob): Promise<ParseResult> =>
    job.kind === 'page'
      ? { kind: 'page', content: await readPage(job.job) }
      : { kind: 'search', hits: readSearchPage(job.html) },
)
