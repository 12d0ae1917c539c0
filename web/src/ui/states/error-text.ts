// The text of an error for a person.
import i18next from 'i18next'
import { ApiError } from '../../lib/http/api-client.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { notify } from '../overlays/toasts.ts'

/** The server's message, in the page's language where its reason is known; a general sentence when there is none. */
export const errorText = (error: unknown): string => {
  if (error instanceof ApiError)
    return error.status === 0
      ? i18next.t('errors.offline')
      : refusalText({ reason: error.reason, params: error.params, message: error.message })
  return i18next.t('errors.unexpected')
}

/** Shows the error as a toast. Equal texts are shown once, not stacked. */
export const reportError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) return // the sign-in page appears instead
  const text = errorText(error)
  notify(text, 'error')
}
