// Checks the reranker: it answers, and scores texts.
import { errorText } from '../../errors.ts'
import { createRerankApi, type RerankSettings } from '../../knowledge/rerank-api.ts'
import { createAddressRules } from '../../net/addresses.ts'
import { createGuardedFetch } from '../../net/guarded-fetch.ts'
import { type Finding, fine } from '../finding.ts'

/** Returns no findings when no reranker is configured: searches have an order of their own. */
export async function checkReranker(settings: RerankSettings | null): Promise<Finding[]> {
  if (settings === null) return []
  const subject = 'reranker'
  const { host } = new URL(settings.apiUrl)
  const fetch = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [] }),
  })
  try {
    const texts = ['A ball is round.', 'A box has corners.']
    const { scores } = await createRerankApi(settings, fetch).score('What is round?', texts, 2)
    if (scores.length === 0) throw new Error('rerank: the response scores none of the texts')
    return [fine('rerank_ok', subject, `${host} responds`, { host })]
  } catch (error) {
    return [
      {
        state: 'fail',
        code: 'rerank_broken',
        params: { host, reason: errorText(error) },
        subject,
        // The message of the request, without the URL or the key.
        detail: `${host} returns no scores (${errorText(error)})`,
        advice:
          'Check rerank.api_url, api_key, model and form. Until then, passages are in the order of the search.',
      },
    ]
  } finally {
    await fetch.close()
  }
}
