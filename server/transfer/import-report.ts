// Counts what an import stores, and records what it leaves out.

import type { ImportReport } from '../protocol/conversations/transfer.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'

const MAX_SKIPPED = 1_000
const MAX_NAME_CHARACTERS = 200

/** Counts what an import stores and leaves out. */
export interface ReportWriter {
  count(
    what: 'conversations' | 'messages' | 'files' | 'projects' | 'documents' | 'skills',
    more?: number,
  ): void
  skip(what: string, failure: DescribedFailure): void
  report(): ImportReport
}

/** Begins at zero. The list of omitted parts is bounded, their number is not. */
export function createReport(): ReportWriter {
  const report: ImportReport & { skills: number } = {
    conversations: 0,
    messages: 0,
    files: 0,
    projects: 0,
    documents: 0,
    skills: 0,
    skipped: [],
    skipped_total: 0,
  }
  return {
    count(what, more = 1) {
      report[what] += more
    },
    skip(what, { message: why, ...failure }) {
      report.skipped_total += 1
      if (report.skipped.length < MAX_SKIPPED)
        report.skipped.push({ what: what.slice(0, MAX_NAME_CHARACTERS), why, ...failure })
    },
    report: () => report,
  }
}
