// Errors of the OpenAI-compatible routes: https://platform.openai.com/docs/guides/error-codes.
import { z } from 'zod'

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
  429: 'rate_limit_error',
}

/** The error object for a status. Refusals by budgets have a type that clients do not retry. */
export function openAiError(failure: {
  status: number
  message: string
  code: string
  param?: string | undefined
}): OpenAiError['error'] {
  const { status, message, code, param } = failure
  const type = code.endsWith('_used_up')
    ? 'insufficient_quota'
    : (TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'))
  return { message, type, param: param ?? null, code }
}
