// Texts of refusals and failures in the page's language. English texts come from the server; other languages translate its reasons.
import i18next from 'i18next'
import { create } from 'zustand'
import type { Language } from '../../../../locales/languages.ts'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { inEnglish, MOMENT_PARAMS } from '../../../../server/protocol/failures.ts'
import { firstScreen } from '../browser/first-screen.tsx'
import { fileSize, fullTime, wholeNumber } from '../format.ts'
import { loadRefusalTexts } from '../i18n/texts.ts'

/** A refusal or failure as the server reports it in errors, runs and documents. */
export type Refusal = {
  /** The protocol's name of the exact reason or of the kind of failure. */
  reason: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's text, in English. */
  message: string
}

type Texts = { readonly [reason: string]: string }

const NONE = { reasons: {}, additions: {} }

const useTexts = create<{ language: string; texts: Texts; additions: Texts }>(() => ({
  language: 'en',
  texts: {},
  additions: {},
}))

/** Loads the texts of `language` after the first screen. Until then, the server's texts are shown. */
export function loadRefusals(language: Language): void {
  void firstScreen
    .then(() => loadRefusalTexts(language))
    .then(
      ({ reasons, additions } = NONE) => useTexts.setState({ language, texts: reasons, additions }),
      () => undefined, // the server's texts stay
    )
}

/** A size as the server writes it. */
const SIZE = /^(\d+(?:\.\d+)?) (bytes|KB|MB|GB)$/
const SIZE_UNITS = ['bytes', 'KB', 'MB', 'GB']
/** Numbers with fewer digits are written alike everywhere. */
const MIN_GROUPED = 1_000

/** A parameter as its reader writes it: times in the zone of this browser, numbers with separators, lists, names of modes. */
function inWords(reason: string, name: string, value: ErrorParams[string]): string {
  const { language } = i18next
  if (Array.isArray(value))
    return new Intl.ListFormat(language, { type: 'conjunction' }).format(
      value.map((one) => inWords(reason, name, one)),
    )
  if (typeof value === 'number')
    return Math.abs(value) < MIN_GROUPED ? String(value) : wholeNumber(value, language)
  if (MOMENT_PARAMS.has(name) && !Number.isNaN(Date.parse(value))) return fullTime(value, language)
  // The names of modes are among the texts of the first screen.
  if (reason === 'approval_mode_not_permitted')
    return i18next.t(`approval.mode.${value}`, { defaultValue: value })
  const [, amount, unit = ''] = SIZE.exec(value) ?? []
  return amount === undefined || language === 'en'
    ? value
    : fileSize(Number(amount) * 1024 ** SIZE_UNITS.indexOf(unit), language)
}

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** The server's English text with its parameters as the reader writes them. */
const reworded = (reason: string, message: string, params: ErrorParams): string =>
  Object.entries(params).reduce((text, [name, value]) => {
    const [before, after] = [inEnglish(name, value), inWords(reason, name, value)]
    return before === '' || before === after
      ? text
      : text.replace(new RegExp(`(?<!\\w)${quoted(before)}(?!\\w)`), () => after)
  }, message)

const fillIn = (reason: string, text: string, values: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    return value === undefined ? '' : inWords(reason, name, value)
  })

/** The text of a reason, filled in with its parameters; the server's text if there is no complete translation. */
export function refusalText({ reason, params, message }: Refusal): string {
  const forMember = memberText(reason ?? '', params)
  if (forMember !== undefined) return forMember
  const { language, texts, additions } = useTexts.getState()
  const known = i18next.language === language && reason != null && Object.hasOwn(texts, reason)
  const text = known ? texts[reason] : undefined
  if (text === undefined || reason == null) return reworded(reason ?? '', message, params ?? {})
  const values: ErrorParams = { ...params, message }
  const isIn = (name: string): boolean => text.includes(`{{${name}}}`)
  if ([...text.matchAll(/\{\{(\w+)\}\}/g)].some(([, name = '']) => !(name in values)))
    return message
  const added = Object.entries(additions).flatMap(([name, addition]) =>
    name in values && !isIn(name) ? [addition] : [],
  )
  return fillIn(reason, [text, ...added].join(''), values)
}

/** What only an administrator can mend: a member reads whom to ask instead of what to set. */
const FOR_OPERATORS =
  /^(model_(answer_is_page|answer_no_json|answer_no_stream|api_missing|key_lost|not_found|redirected|refused_credit|unauthorized|unavailable_(connection|host|insecure|network)\w*)|mail_not_set_up|channel_mail_not_set_up|passkey_unavailable|secret_unreadable|host_refused)$/

let operates = true

/** Whether the reader can change the server's settings; true until the account is known. */
export const isOperator = (): boolean => operates

/** The reader is an administrator, or the only user of the server. */
export function setOperator(isOne: boolean): void {
  operates = isOne
}

/** The text for a member in place of one for operators; undefined until these texts have loaded. */
function memberText(reason: string, params: ErrorParams | null | undefined): string | undefined {
  if (operates || !FOR_OPERATORS.test(reason) || !i18next.exists('faults.askServer'))
    return undefined
  const model = params?.model
  return typeof model === 'string'
    ? i18next.t('faults.askModel', { model })
    : i18next.t('faults.askServer')
}

/** `refusalText` for components; renders again when the texts have loaded. */
export function useRefusalText(): (refusal: Refusal) => string {
  useTexts()
  return refusalText
}
