// Which checkpoints of a project are too many or too old.

export interface PruneRule {
  /** Checkpoints kept at most per project. */
  keep: number
  /** Days after which one goes. */
  maxAgeDays: number
  /** Bytes of kept contents per project; the oldest checkpoints go until they fit. */
  maxBytes: number
}

const DAY_MS = 24 * 60 * 60_000

/** The ids that go, out of all checkpoints given newest first. The newest always stays. */
export const prunable = (
  newestFirst: readonly { id: string; createdAt: Date }[],
  rule: PruneRule,
  now: Date,
): string[] =>
  newestFirst
    .filter(
      ({ createdAt }, place) =>
        place > 0 &&
        (place >= rule.keep || now.getTime() - createdAt.getTime() > rule.maxAgeDays * DAY_MS),
    )
    .map(({ id }) => id)
