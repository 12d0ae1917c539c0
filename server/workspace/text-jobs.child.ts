// The worker thread of the workspace: differences, regular expressions of a model and hashing, away from the server's own thread.
import { parentPort } from 'node:worker_threads'
import { findMatches, type RegexMatches, type RegexReplacement, replaceMatches } from './regex.ts'
import { type TextDiff, unifiedDiff } from './unified-diff.ts'

/** What each kind of job takes and answers. */
export interface Jobs {
  diff: {
    input: { path: string; before: string | null; after: string | null; timeoutMs: number }
    output: TextDiff
  }
  replace: {
    input: { pattern: string; replacement: string; text: string; all: boolean }
    output: RegexReplacement
  }
  find: {
    input: { pattern: string; fixed: boolean; caseSensitive: boolean; text: string; limit: number }
    output: RegexMatches
  }
}
/** What the thread answers to one job. */
export type JobAnswer = { ok: true; output: unknown } | { ok: false; message: string }
export type JobKind = keyof Jobs
type Job = { [Kind in JobKind]: { kind: Kind; input: Jobs[Kind]['input'] } }[JobKind]

function perform(job: Job): Jobs[JobKind]['output'] {
  switch (job.kind) {
    case 'diff': {
      const { path, before, after, timeoutMs } = job.input
      return unifiedDiff(path, before, after, timeoutMs)
    }
    case 'replace':
      return replaceMatches(job.input)
    case 'find':
      return findMatches(job.input)
  }
}

parentPort?.on('message', (job: Job) => {
  let answer: JobAnswer
  try {
    answer = { ok: true, output: perform(job) }
  } catch (error) {
    answer = { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(answer)
})
