// Every error code of the API with its HTTP status; responses, events and OpenAPI are derived from this table.
import { z } from 'zod'

export const ERROR_CODES = {
  bad_request: 400,
  validation_failed: 400,
  bad_cursor: 400,
  unknown_model: 400,
  bad_attachment: 400,
  binary_file: 400,
  no_project: 400,
  grant_too_wide: 400,
  skill_unknown: 400,
  skill_invalid: 400,
  time_zone_needed: 400,
  time_is_past: 400,
  never_due: 400,
  too_often: 400,
  watch_needs_times: 400,
  project_needed: 400,
  unauthorized: 401,
  wrong_credentials: 401,
  forbidden: 403,
  registration_closed: 403,
  origin_refused: 403,
  open_the_page: 403,
  not_yours: 403,
  someone_else_must_decide: 403,
  path_escapes: 403,
  read_only_project: 403,
  owner_only: 403,
  not_found: 404,
  code_unknown: 404,
  project_deleted: 404,
  conflict: 409,
  name_taken: 409,
  run_active: 409,
  run_not_resumable: 409,
  already_decided: 409,
  approval_changed: 409,
  grant_allows_rejected: 409,
  channel_unknown: 409,
  already_receiving: 409,
  file_changed: 409,
  content_changed: 409,
  last_owner: 409,
  method_not_allowed: 405,
  request_timeout: 408,
  link_gone: 410,
  payload_too_large: 413,
  file_too_large: 413,
  project_full: 413,
  quota_exceeded: 413,
  url_too_long: 414,
  unsupported_media_type: 415,
  too_many_requests: 429,
  too_many_runs: 429,
  quota_reached: 429,
  headers_too_large: 431,
  internal: 500,
  shutting_down: 503,
  server_busy: 503,
  store_busy: 503,
  store_unavailable: 503,
  store_full: 507,
  // Failures of model providers; these also end a run with an `error` event.
  // The provider's own 4xx: repeating the request does not help.
  model_unauthorized: 400,
  model_refused: 400,
  model_not_found: 400,
  model_rate_limited: 429,
  model_unavailable: 502,
  model_timeout: 504,
  model_bad_answer: 502,
  model_stream_broken: 502,
  model_context_exceeded: 400,
  run_interrupted: 500,
  budget_exceeded: 429,
} as const satisfies Record<string, number>

/** The kind of a failure, which decides the HTTP status. */
export type ErrorCode = keyof typeof ERROR_CODES

/**
 * The values in an error's text by placeholder, so that the page can translate it and write each as its reader does: numbers,
 * lists of names, and moments (`MOMENT_PARAMS`) as ISO 8601 in UTC.
 */
export const ErrorParams = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.string())]),
)
export type ErrorParams = z.infer<typeof ErrorParams>

/** The body of every response that is an error. */
export const ErrorBody = z
  .object({
    /** The HTTP status. */
    code: z.int(),
    /** For a person: what happened and what to do. */
    message: z.string(),
    /** The machine-readable kind of failure: a key of `errorCodes`. */
    error: z.string(),
    /** The machine-readable reason, for programs and translations: a key of `failures`, or the value of `error`. */
    reason: z.string(),
    /** The values in `message`, by their placeholder in the text of `reason`. */
    params: ErrorParams.optional(),
    /** Also in `X-Request-Id` and in the server's log. */
    request_id: z.string(),
    details: z.unknown().optional(),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof ErrorBody>
