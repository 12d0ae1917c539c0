// The rows of a message and of a run before anything happened in them.

/** What a message is before anything is said in it. */
export const blankMessage = {
  text: '',
  tokenCount: 0,
  model: null,
  runId: null,
  status: 'completed',
  error: null,
} as const

/** What a run is before anything happened in it. */
export const blankRun = {
  parentRunId: null,
  kind: 'chat',
  status: 'running',
  attempt: 1,
  failedAttempts: 0,
  revision: 0,
  round: 0,
  promptTokens: 0,
  completionTokens: 0,
  lastEvent: 0,
  finishReason: null,
  error: null,
  state: null,
  heartbeatAt: null,
  stopRequested: false,
  endedAt: null,
} as const
