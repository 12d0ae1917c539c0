// Converts errors to texts for people.
import i18next from 'i18next'
import { ApiError } from '../../lib/http/api-client.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { notify } from '../overlays/toasts.ts'

/** The server's message, translated if its reason is known; a general sentence for other errors. */
export const errorText = (error: unknown): string => {
  if (error instanceof ApiError)
    return error.status === 0
      ? i18next.t('errors.offline')
      : refusalText({ reason: error.reason, params: error.params, message: error.message })
  return i18next.t('errors.unexpected')
}

/** Shows the error as a toast, except for a 401, which opens the sign-in page. */
export const reportError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) return
  const text = errorText(error)
  notify(text, 'error')
}
