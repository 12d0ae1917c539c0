// Whether each configured provider answers and takes its key. One tiny request each; nothing is generated.
import { splitApiUrl } from '../llm/openai/provider-quirks.ts'
import type { ModelSettings } from '../protocol/catalog.ts'
import { type Finding, fine } from './finding.ts'

const TIMEOUT_MS = 8000

/** One finding for each model of config.yml. */
export async function checkProviders(models: readonly ModelSettings[]): Promise<Finding[]> {
  if (models.length === 0)
    return [
      fine(
        'models',
        'none in config.yml: those added in the page are used, else the built-in demo',
      ),
    ]
  return Promise.all(models.map(checkProvider))
}

async function checkProvider({ id, api_url, api_key }: ModelSettings): Promise<Finding> {
  const subject = `model ${id}`
  const { base } = splitApiUrl(api_url)
  const host = new URL(base).host
  try {
    const answer = await fetch(`${base}/models`, {
      headers: api_key === undefined ? {} : { authorization: `Bearer ${api_key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    })
    await answer.body?.cancel()
    if (answer.status === 401 || answer.status === 403)
      return {
        state: 'fail',
        subject,
        detail: `${host} refuses the API key (${answer.status})`,
        advice: 'Check api_key and the environment variable that it names.',
      }
    return fine(subject, `${host} answers`)
  } catch {
    // The reason may hold the URL with a key in it; the host says enough.
    return {
      state: 'fail',
      subject,
      detail: `${host} does not answer`,
      advice: 'Check api_url, the network and, for a local provider, that it runs.',
    }
  }
}
