// The ids of a run's events: each attempt at the run has a range of its own.

const IDS_PER_ATTEMPT = 1_000_000

/** The id before the first event of an attempt: each has a range of its own, above all ids of earlier ones. */
export const idsBefore = (attempt: number): number => (Math.max(attempt, 1) - 1) * IDS_PER_ATTEMPT

/** The attempt that an event id belongs to. */
export const attemptOfEvent = (id: number): number => Math.floor((id - 1) / IDS_PER_ATTEMPT) + 1
