// The providers that the first-run page offers by name. Any other provider is added by its URL.
import type { ModelPreset } from '../protocol/models/catalog.ts'
import { type EnvironmentKeys, environmentKeyFor } from './environment-keys.ts'
import { SERVICES } from './services.ts'

const OLLAMA = 'http://127.0.0.1:11434'
const DETECT_MS = 800

/** Providers that need a key; those whose key the environment has come first. */
const presetsWith = (keys: EnvironmentKeys): ModelPreset[] =>
  SERVICES.flatMap(({ id, name, preset }): ModelPreset[] => {
    if (preset === undefined) return []
    const { api_url, key_url } = preset
    const variable = environmentKeyFor(keys, api_url)?.variable ?? null
    return [{ id, name, api_url, key_url, key_variable: variable, detected: false }]
  }).sort((a, b) => Number(a.key_variable === null) - Number(b.key_variable === null))

/**
 * Returns all presets. If Ollama runs on this machine, it comes first and is marked; then those whose key the environment
 * has. Never throws.
 */
export async function listPresets(
  keys: EnvironmentKeys,
  ollamaUrl = OLLAMA,
): Promise<ModelPreset[]> {
  const detected = await isOllama(ollamaUrl)
  const ollama = {
    id: 'ollama',
    name: 'Ollama',
    api_url: `${ollamaUrl}/v1`,
    detected,
    key_url: null,
    key_variable: null,
  }
  const others = presetsWith(keys)
  return detected ? [ollama, ...others] : [...others, ollama]
}

async function isOllama(url: string): Promise<boolean> {
  try {
    // Loaded only here, where a person adds a model (decision 0018). The bundled package has only a default export.
    const { request } = (await import('undici')).default
    const { statusCode, body } = await request(`${url}/api/version`, {
      signal: AbortSignal.timeout(DETECT_MS),
    })
    await body.dump({ limit: 64 * 1024 })
    return statusCode === 200
  } catch {
    return false
  }
}
