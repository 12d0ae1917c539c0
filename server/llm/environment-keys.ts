// The providers' own keys in the environment, such as OPENAI_API_KEY: for models of that provider that have no key.
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { SERVICES } from './services.ts'

/** A key and the variable that holds it. */
export interface EnvironmentKey {
  variable: string
  key: string
}

/** The keys of providers by the origin of their API. Nobody else gets them. */
export type EnvironmentKeys = ReadonlyMap<string, EnvironmentKey>

/** Reads the keys of the providers that the setup page offers. */
export const readEnvironmentKeys = (
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentKeys =>
  new Map(
    SERVICES.flatMap(({ preset }) => {
      const variable = preset?.key_variables.find((name) => (environment[name] ?? '').trim() !== '')
      const key = variable === undefined ? '' : (environment[variable] ?? '').trim()
      return preset === undefined || variable === undefined
        ? []
        : [[new URL(preset.api_url).origin, { variable, key }] as const]
    }),
  )

/** The key for an address; undefined if it is not the API of a provider with a key in the environment. */
export const environmentKeyFor = (
  keys: EnvironmentKeys,
  apiUrl: string,
): EnvironmentKey | undefined =>
  URL.canParse(apiUrl) ? keys.get(new URL(apiUrl).origin) : undefined

/** Adds the key of the environment to a model that has neither a key nor headers of its own, which may hold one. */
export function withEnvironmentKey<
  Settings extends Pick<ModelSettings, 'api_url' | 'api_key' | 'headers'>,
>(settings: Settings, keys: EnvironmentKeys): Settings {
  if (settings.api_key !== undefined || settings.headers !== undefined) return settings
  const found = environmentKeyFor(keys, settings.api_url)
  return found === undefined ? settings : { ...settings, api_key: found.key }
}
