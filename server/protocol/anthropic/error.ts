// Errors of the routes in Anthropic's format: https://platform.claude.com/docs/en/api/errors.

/** The body of an error, in the form that Anthropic's clients read. */
export interface AnthropicError {
  type: 'error'
  error: { type: string; message: string }
  request_id?: string
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  // An earlier failure of the provider.
  424: 'api_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/** The error object for a status. Programs recognize a conversation that is too long by Anthropic's words. */
export function anthropicError(failure: {
  status: number
  message: string
  code: string
}): AnthropicError['error'] {
  const { status, message, code } = failure
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return {
    type,
    message: code === 'model_context_exceeded' ? `prompt is too long: ${message}` : message,
  }
}
