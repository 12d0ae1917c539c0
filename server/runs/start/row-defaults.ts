// Default column values of new messages and runs.
import { RUN_VERSION } from '../../db/run-version.ts'

/** Columns of a new, empty message. */
export const MESSAGE_DEFAULTS = {
  text: '',
  tokenCount: 0,
  model: null,
  runId: null,
  status: 'completed',
  error: null,
  origin: null,
} as const

/** Columns of a new run. */
export const RUN_DEFAULTS = {
  parentRunId: null,
  kind: 'chat',
  beside: false,
  status: 'running',
  attempt: 1,
  version: RUN_VERSION,
  failedAttempts: 0,
  revision: 0,
  iteration: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cost: null,
  timeline: null,
  lastEvent: 0,
  finishReason: null,
  reachedLimit: null,
  error: null,
  state: null,
  heartbeatAt: null,
  stopRequested: false,
  stopCause: null,
  endedAt: null,
} as const
