// The progress of a content search, at the rate at which people can read it.

/** What has been done so far: files that were searched (without ripgrep), or matches that were found (with ripgrep). */
export interface GrepProgress {
  done: number
  unit: 'files' | 'matches'
}

const INTERVAL_MS = 250

/** Passes on the first report at once, then at most one per interval. */
export function throttleProgress(
  report: ((progress: GrepProgress) => void) | undefined,
): (progress: GrepProgress) => void {
  let nextReport = 0
  return (progress) => {
    if (report === undefined || performance.now() < nextReport) return
    nextReport = performance.now() + INTERVAL_MS
    report(progress)
  }
}
