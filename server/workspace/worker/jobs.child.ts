// The worker thread of the workspace: diffs, regular expressions, snapshots and other synchronous work.
import { AppError, errorText } from '../../errors.ts'
import { systemCode } from '../../lib/system-faults.ts'
import { serveRequests } from '../../lib/worker-server.ts'
import {
  type CapturedTree,
  type CaptureTreeInput,
  captureTree,
} from '../checkpoints/capture/capture-tree.ts'
import { syncPaths } from '../checkpoints/capture/scan-tree.ts'
import {
  collectContents,
  compareSnapshot,
  createSnapshot,
  measureContents,
  type SnapshotChanges,
  type SnapshotInput,
} from '../checkpoints/capture/snapshot.ts'
import { type TextDiff, unifiedDiff } from '../checkpoints/diff/unified-diff.ts'
import { writeFiles } from '../files/write-files.ts'
import { matchesLinear } from '../search/linear-pattern.ts'
import {
  findMatches,
  locateText,
  type RegexMatches,
  type RegexReplacement,
  replaceMatches,
} from '../search/regex.ts'
import type { CompiledComponent } from './compile-component.ts'

/** Input and output of each kind of job. */
export interface Jobs {
  take_snapshot: { input: SnapshotInput; output: { entries: number; bytes: number } }
  compare_snapshot: { input: SnapshotInput; output: SnapshotChanges }
  sync_paths: { input: { root: string; paths: readonly string[] }; output: null }
  capture_tree: { input: CaptureTreeInput; output: CapturedTree }
  collect_contents: {
    input: SnapshotInput & { needed: ReadonlySet<string>; maxBytes: number }
    output: { bytes: number }
  }
  measure_contents: { input: Pick<SnapshotInput, 'contents'>; output: { bytes: number } }
  diff: {
    input: { path: string; before: string | null; after: string | null; timeoutMs: number }
    output: TextDiff
  }
  replace: {
    input: { pattern: string; replacement: string; text: string; all: boolean }
    output: RegexReplacement
  }
  write_files: {
    input: { folder: string; files: readonly { path: string; bytes: Uint8Array }[] }
    output: { files: number }
  }
  locate: {
    input: { text: string; old: string; limit: number }
    output: { ranges: [start: number, end: number][] }
  }
  find: {
    input: { pattern: string; fixed: boolean; caseSensitive: boolean; text: string; limit: number }
    output: RegexMatches
  }
  matches_linear: { input: { pattern: string; text: string }; output: boolean }
  compile_component: { input: { path: string; source: string }; output: CompiledComponent }
}
/** The result of one job. */
export type JobResult =
  | { ok: true; output: unknown }
  /** The fields of an `AppError` that the job threw: classes do not survive structured cloning. */
  | {
      ok: false
      kind: 'refused'
      message: string
      error: Pick<AppError, 'code' | 'reason' | 'params'>
    }
  /** `code` is the system error code or ''; with a code, `message` may contain a host path. */
  | { ok: false; kind: 'thrown'; message: string; code: string }
/** The work that worker threads do for the workspace. */
export type JobKind = keyof Jobs
type Job = { [Kind in JobKind]: { kind: Kind; input: Jobs[Kind]['input'] } }[JobKind]

async function perform(job: Job): Promise<Jobs[JobKind]['output']> {
  switch (job.kind) {
    case 'take_snapshot':
      return createSnapshot(job.input)
    case 'compare_snapshot':
      return compareSnapshot(job.input)
    case 'sync_paths':
      return syncPaths(job.input)
    case 'capture_tree':
      return captureTree(job.input)
    case 'collect_contents':
      return collectContents(job.input)
    case 'measure_contents':
      return measureContents(job.input)
    case 'diff': {
      const { path, before, after, timeoutMs } = job.input
      return unifiedDiff(path, before, after, timeoutMs)
    }
    case 'replace':
      return replaceMatches(job.input)
    case 'write_files':
      return writeFiles(job.input)
    case 'locate':
      return locateText(job.input)
    case 'find':
      return findMatches(job.input)
    case 'matches_linear':
      return matchesLinear(job.input)
    case 'compile_component': {
      // Its parsers are more code than everything else here, and few threads need them.
      const { compileComponent } = await import('./compile-component.ts')
      return compileComponent(job.input)
    }
  }
}

serveRequests(async (job: Job): Promise<JobResult> => {
  try {
    return { ok: true, output: await perform(job) }
  } catch (error) {
    const message = errorText(error)
    if (!(error instanceof AppError))
      return { ok: false, kind: 'thrown', message, code: systemCode(error) }
    const { code, reason, params } = error
    return { ok: false, kind: 'refused', message, error: { code, reason, params } }
  }
})
