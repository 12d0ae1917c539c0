// The values entered in the setup, and the models to store. Stored for a reload, without the key and the headers.
import type {
  ModelApi,
  ModelSettings,
  ProbeReport,
} from '../../../../server/protocol/models/catalog.ts'
import { privateKey } from '../../lib/browser/private-storage.ts'
import { headerLines } from '../../lib/header-lines.ts'
import { fieldsOf, listIn, parseJson, textIn } from '../../lib/read-json.ts'

/** The kinds of APIs that the server can speak to a provider. */
export const APIS: readonly ModelApi[] = ['chat', 'responses', 'messages']

/** The steps of the setup, in order. */
export const STEPS = ['language', 'provider', 'models', 'try'] as const

/** The name of a step, also used in the URL. */
export type SetupStep = (typeof STEPS)[number]

/** The values entered in all steps so far. */
export type SetupForm = {
  apiUrl: string
  api: ModelApi | ''
  apiKey: string
  /** Headers of the provider's own, one `name: value` per line. */
  headers: string
  model: string
  /** Other models of the provider to add with the tested one. */
  also: readonly string[]
  /** The ids of the models that have been added. */
  added: readonly string[]
}

const STORAGE_KEY = privateKey('setup')

const EMPTY: SetupForm = {
  apiUrl: '',
  api: '',
  apiKey: '',
  headers: '',
  model: '',
  also: [],
  added: [],
}

const textsIn = (value: unknown): string[] =>
  listIn(value).flatMap((one) => (typeof one === 'string' ? [one] : []))

/** The values from before a reload of this tab. */
export function readForm(): SetupForm {
  try {
    const stored = fieldsOf(parseJson(sessionStorage.getItem(STORAGE_KEY) ?? '{}'))
    return {
      ...EMPTY,
      apiUrl: textIn(stored.apiUrl) ?? '',
      api: APIS.find((api) => api === stored.api) ?? '',
      model: textIn(stored.model) ?? '',
      also: textsIn(stored.also),
      added: textsIn(stored.added),
    }
  } catch {
    return EMPTY // storage blocked: a reload begins anew
  }
}

/** Stores the values for `readForm`, without the key and the headers. Never throws. */
export function writeForm({ apiKey: _secret, headers: _secrets, ...form }: SetupForm): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(form))
  } catch {
    // Storage is blocked: a reload starts again.
  }
}

/** The key and the headers, if there are any. */
export function secretsOf(form: SetupForm): Pick<ModelSettings, 'api_key' | 'headers'> {
  const headers = headerLines(form.headers)
  return {
    ...(form.apiKey.trim() === '' ? {} : { api_key: form.apiKey.trim() }),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  }
}

const idOf = (model: string): string => model.trim().replace(/\s+/g, '-').slice(0, 200)

/** The settings of the tested model: findings of the test merged with the entered values. */
const tested = (form: SetupForm, report: ProbeReport): ModelSettings => {
  const suggested = Object.fromEntries(
    Object.entries(report.suggested).filter(([, value]) => value !== undefined),
  )
  return {
    ...suggested,
    id: idOf(form.model),
    name: form.model.trim(),
    api_url: report.suggested.api_url ?? form.apiUrl.trim(),
    upstream_model: form.model.trim(),
    ...secretsOf(form),
  }
}

/** The settings of another model of the same provider. It is not tested; the server knows the abilities of many models. */
const untested = (
  { api_url, api, api_key, headers }: ModelSettings,
  model: string,
): ModelSettings => ({
  id: idOf(model),
  name: model,
  upstream_model: model,
  api_url,
  ...(api === undefined ? {} : { api }),
  ...(api_key === undefined ? {} : { api_key }),
  ...(headers === undefined ? {} : { headers }),
})

/** The models to store: the tested one first, then the other chosen ones. */
export function modelsOf(form: SetupForm, report: ProbeReport): ModelSettings[] {
  const first = tested(form, report)
  const others = form.also.filter((model) => model !== form.model.trim())
  return [first, ...others.map((model) => untested(first, model))]
}
