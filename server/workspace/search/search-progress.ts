// The progress of a content search, at the rate at which people can read it.

/** The work done so far: files searched (without ripgrep) or matches found (with ripgrep). */
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
