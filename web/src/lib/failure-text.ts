// The text of a failed run or model call, in the page's language where its code is known.
import type { TFunction } from 'i18next'
import type { ErrorParams } from '../../../server/protocol/error.ts'
import { type FailureName, failureNames } from './i18n/english-failures.ts'
import { refusalText } from './refusal-text.ts'

type Failure = {
  code: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's own words. */
  content: string | null | undefined
}

const isNamed = (name: string): name is FailureName => Object.hasOwn(failureNames, name)

/** The failure as text, with the provider's own words quoted; the server's text where the code is unknown. */
export function failureText({ code, params, content }: Failure, t: TFunction): string | null {
  if (code == null) return content ?? null
  const reason = params?.reason === undefined ? code : `${code}_${params.reason}`
  const name = isNamed(reason) ? reason : code
  if (!isNamed(name) || (failureNames[name].includes('{{model}}') && params?.model === undefined))
    return content == null ? null : refusalText({ reason: code, params, message: content })
  const text = t(`failures.${name}`, { ...params })
  return params?.detail === undefined ? text : `${text} ${t('failures.quoted', { ...params })}`
}
