// Errors of the OpenAI-compatible routes: https://platform.openai.com/docs/guides/error-codes.
import { z } from 'zod'
import type { ErrorParams } from '../error.ts'

/** The body of an error below `/v1`, in the form that OpenAI's clients read. */
export const OpenAiError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      /** The field of the request that is wrong. */
      param: z.string().nullable(),
      /** The machine-readable reason. */
      code: z.string().nullable(),
    }),
    /** The id in `X-Request-Id` and in the server's log. */
    request_id: z.string().optional(),
  })
  .meta({ id: 'OpenAiError' })
export type OpenAiError = z.infer<typeof OpenAiError>

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  // An earlier failure of the provider. Programs such as Continue repeat every `server_error`, whatever its status.
  424: 'failed_dependency',
  429: 'rate_limit_error',
}

/** Programs know some failures by the codes of OpenAI. */
const CODES: Readonly<Record<string, string>> = {
  model_context_exceeded: 'context_length_exceeded',
  unknown_model: 'model_not_found',
  model_unknown: 'model_not_found',
}

/**
 * The status that programs expect: 404 for an unknown model, 409 for a key that cannot be opened any more, as for every secret, and 502 where the provider refuses the key of this server, because that
 * is no fault of the program.
 * @param failure `status`: that of the same failure elsewhere.
 */
export function programStatus(failure: {
  status: number
  error: string
  reason?: string | undefined
  params?: ErrorParams | undefined
}): number {
  const { status, error, reason, params } = failure
  if (reason === 'unknown_model') return 404
  if (reason === 'model_key_lost') return 409
  const isRefusedAccess =
    error === 'model_refused' && (params?.status === 401 || params?.status === 403)
  return error === 'model_unauthorized' || isRefusedAccess ? 502 : status
}

/** The code of a failure for programs. */
export const openAiCode = (reason: string): string => CODES[reason] ?? reason

/** The error object for a status. Refusals by budgets have a type that clients do not retry. */
export function openAiError(failure: {
  status: number
  message: string
  code: string
  param?: string | undefined
}): OpenAiError['error'] {
  const { status, message, param } = failure
  const code = openAiCode(failure.code)
  const type = code.endsWith('_used_up')
    ? 'insufficient_quota'
    : (TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'))
  return { message, type, param: param ?? null, code }
}
