// The configuration keys that make a server use the scripted provider.
import type { Upstream } from './upstream.ts'

/** Titles are taken from the first message, so that the provider receives only requests that the test causes. */
export const scripted = (upstream: Upstream): Record<string, unknown> => ({
  titles: 'first_message',
  models: [
    {
      id: 'scripted',
      name: 'Scripted',
      api_url: upstream.url,
      api_key: 'test-key',
      thinking: true,
      vision: true,
    },
  ],
})
