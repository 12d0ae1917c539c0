// The types of release.mjs.

/** The changelog in which what was unreleased belongs to a version. @param day such as 2026-01-31 */
export function releasedChangelog(text: string, version: string, day: string): string

/**
 * Commits and tags a version once everything that can fail has worked; until then, a failure leaves the checkout as it was.
 * @param build makes what is released, of the version's files; `run` starts a program in the checkout and returns its output.
 * @throws if the checkout or the version is not fit, or a step fails.
 */
export function release(
  folder: string,
  version: string | undefined,
  build: (run: (program: string, ...values: string[]) => string) => void,
): void
