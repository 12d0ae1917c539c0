// The worker thread that parses pages from outside, so that none of them can block the server.
import { serveRequests } from '../lib/worker-server.ts'
import { type PageContent, type PageJob, readPage } from './page-content.ts'
import { readSearchPage, type SearchHit } from './search-page.ts'

export type ParseJob = { kind: 'page'; job: PageJob } | { kind: 'search'; html: string }
export type ParseResult =
  | { kind: 'page'; content: PageContent }
  | { kind: 'search'; hits: SearchHit[] | null }

// A page that makes the parser throw ends the thread; `page-reader` counts that as a failed attempt.
serveRequests(
  async (job: ParseJob): Promise<ParseResult> =>
    job.kind === 'page'
      ? { kind: 'page', content: await readPage(job.job) }
      : { kind: 'search', hits: readSearchPage(job.html) },
)
