// Converts errors to texts for people.
import i18next from 'i18next'
import { type FieldFaults, readFieldFaults } from '../../../../server/protocol/field-fault.ts'
import { wholeNumber } from '../../lib/format.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { notify } from '../overlays/toasts.ts'

/** What is wrong with the fields of a refused request; empty for other errors. */
export function fieldFaultsOf(error: unknown): FieldFaults {
  if (!(error instanceof ApiError) || error.reason !== 'request_field_invalid') return []
  // The server of an earlier version sends no kinds of faults.
  return readFieldFaults(error.details)
}

/** A fault as a sentence. */
export function faultText({ fault, limit }: FieldFaults[number]): string {
  const { t, language } = i18next
  switch (fault) {
    case 'too_short':
      return t('faults.tooShort', { count: limit ?? 1 })
    case 'too_long':
      return t('faults.tooLong', { count: limit ?? 0 })
    case 'too_few':
      return t('faults.tooFew', { count: limit ?? 1 })
    case 'too_many':
      return t('faults.tooMany', { count: limit ?? 0 })
    case 'too_small':
      return t('faults.tooSmall', { limit: wholeNumber(limit ?? 0, language) })
    case 'too_large':
      return t('faults.tooLarge', { limit: wholeNumber(limit ?? 0, language) })
    case 'url':
      return t('common.urlRule')
    case 'email':
      return t('common.emailRule')
    case 'missing':
    case 'form':
    case 'value':
      return t(`faults.${fault}`)
  }
}

/** The server's message, translated if its reason is known; a general sentence for other errors. */
export const errorText = (error: unknown): string => {
  if (!(error instanceof ApiError)) return i18next.t('errors.unexpected')
  const { status, reason, params, message } = error
  if (status === 0) return i18next.t('errors.offline')
  const [first] = fieldFaultsOf(error)
  if (first !== undefined) return i18next.t('faults.entry', { fault: faultText(first) })
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
