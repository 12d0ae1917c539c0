// The official package as a client of configured services: what it sends besides the request.
import { afterEach, expect, test, vi } from 'vitest'
import type { FetchOptions, FetchOutcome, GuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { openAiClient } from '../../../server/net/openai-service.ts'

afterEach(() => vi.unstubAllEnvs())

test.each(['a-key', undefined])(
  'a service receives its own key (%s) and no header of the environment',
  async (apiKey) => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-gateway: secret\nauthorization: Bearer other')
    vi.stubEnv('OPENAI_API_KEY', 'another')
    vi.stubEnv('OPENAI_ORG_ID', 'an-organization')
    const sent: Record<string, string>[] = []
    const answer = async (_url: string, options: FetchOptions): Promise<FetchOutcome> => {
      sent.push({ ...options.headers })
      return { ok: false, fault: 'failed', error: 'not reached', url: '' }
    }
    const fetch: GuardedFetch = Object.assign(answer, { close: async () => undefined })
    const client = await openAiClient({ apiUrl: 'https://images.example/v1', apiKey }, fetch, {
      signal: AbortSignal.timeout(10_000),
      timeoutMs: 10_000,
      maxBytes: 1_000,
    })
    await expect(client.models.list()).rejects.toThrow()
    expect(sent).toHaveLength(1)
    expect(sent[0]?.authorization).toBe(apiKey === undefined ? undefined : `Bearer ${apiKey}`)
    expect(JSON.stringify(sent)).not.toMatch(/secret|other|organization/)
  },
)
