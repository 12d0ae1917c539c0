// Time limits and pauses of MCP connections.

/** Milliseconds for the handshake, and for each page of the tool list. */
export const CONNECT_TIMEOUT_MS = 20_000
/** The same for a program that has never connected: `npx` may have to download it first. */
export const FIRST_START_TIMEOUT_MS = 120_000
/** How many programs start at once, so that they do not slow each other down beyond their limits. */
export const STARTS_AT_ONCE = 3
/** A program that has not connected by then no longer keeps others from starting. */
export const START_SLOT_MS = 30_000
/** Milliseconds to detect which revision a server speaks. A program that is silent for this long speaks an earlier one. */
export const DISCOVERY_TIMEOUT_MS = 10_000
/** The same for a program that has never connected. */
export const FIRST_DISCOVERY_TIMEOUT_MS = 60_000
export const PING_TIMEOUT_MS = 10_000
export const PING_EVERY_MS = 30_000
export const FIRST_PAUSE_MS = 1_000
export const LONGEST_PAUSE_MS = 60_000
/** The same for a program that has never connected: most lack a key or a file, and each start takes seconds of computing time. */
export const LONGEST_START_PAUSE_MS = 5 * 60_000
/** A connection that lasted this long did not cause its own end. */
export const LASTING_MS = 30_000
/** How long a call waits for a server that is still connecting. */
export const CALL_WAITS_MS = 30_000
/** No limit: the largest delay that a timer can have. The caller aborts the call when its time is up. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
/** After this time, a server that spoke an earlier revision is asked again. */
export const LEGACY_REMEMBERED_MS = 24 * 60 * 60_000

/** Milliseconds before the next attempt: doubled after each failure, up to a limit. */
export const pauseAfter = (
  failures: number,
  firstPauseMs: number,
  longestMs = LONGEST_PAUSE_MS,
): number => Math.min(firstPauseMs * 2 ** failures, longestMs)
