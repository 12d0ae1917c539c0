// What to tell a person about an error.
import i18next from 'i18next'
import { ApiError } from '../lib/api-client.ts'
import { notify } from './toasts.ts'

/** The server's own words when it gave some; a plain sentence otherwise. */
export const errorText = (error: unknown): string => {
  if (error instanceof ApiError)
    return error.status === 0 ? i18next.t('errors.offline') : error.message
  return i18next.t('errors.unexpected')
}

/** Shows the error as a toast; the same text is shown once, not stacked. */
export const reportError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) return // the sign-in page says it
  const text = errorText(error)
  notify(text, 'error')
}
