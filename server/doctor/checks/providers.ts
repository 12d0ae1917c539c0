// Checks that each configured provider responds and accepts its key, with one small request each; nothing is generated.
import { splitApiUrl } from '../../llm/provider-quirks.ts'
import type { ModelSettings } from '../../protocol/models/catalog.ts'
import { type Finding, fine } from '../finding.ts'

const TIMEOUT_MS = 8000

/** One finding per model in config.yml. */
export async function checkProviders(models: readonly ModelSettings[]): Promise<Finding[]> {
  if (models.length === 0)
    return [
      fine(
        'models_none',
        'models',
        'none in config.yml: the server uses those added in the page, else the built-in demo',
      ),
    ]
  return Promise.all(models.map(checkProvider))
}

async function checkProvider({ id, api_url, api_key, headers }: ModelSettings): Promise<Finding> {
  const subject = `model ${id}`
  const { base } = splitApiUrl(api_url)
  const host = new URL(base).host
  try {
    const response = await fetch(`${base}/models`, {
      headers: {
        ...(api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
        ...headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    })
    await response.body?.cancel()
    if (response.status === 401 || response.status === 403)
      return {
        state: 'fail',
        code: 'model_key_refused',
        params: { model: id, host, status: response.status },
        subject,
        detail: `${host} rejects the API key (${response.status})`,
        advice: 'Check api_key and the environment variable it refers to.',
      }
    return fine('model_ok', subject, `${host} responds`, { model: id, host })
  } catch {
    // The error may contain a URL with a key, so only the host is shown.
    return {
      state: 'fail',
      code: 'model_silent',
      params: { model: id, host },
      subject,
      detail: `${host} does not respond`,
      advice: 'Check api_url, the network and, for a local provider, whether it is running.',
    }
  }
}
