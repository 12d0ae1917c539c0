// Converts errors to texts for people.
import i18next from 'i18next'
import { ApiError } from '../../lib/http/api-client.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { notify } from '../overlays/toasts.ts'

/** The server's message, translated if its reason is known; a general sentence for other errors. */
export const errorText = (error: unknown): string => {
  if (!(error instanceof ApiError)) return i18next.t('errors.unexpected')
  const { status, reason, params, message } = error
  if (status === 0) return i18next.t('errors.offline')
  return message === ''
    ? i18next.t('errors.status', { status })
    : refusalText({ reason, params, message })
}

/** Shows the error as a toast, except for a 401, which opens the sign-in page. */
export const reportError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) return
  const text = errorText(error)
  notify(text, 'error')
}
