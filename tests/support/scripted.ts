// The part of a configuration that talks to the scripted model server.
import type { Upstream } from './upstream.ts'

/** Titles come from the first message, so that every request to the upstream is one of the test's own. */
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
