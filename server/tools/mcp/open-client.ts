// Opens the client for one MCP server, in the revision that the server speaks: detected once, then remembered.
import type { PriorDiscovery } from '@modelcontextprotocol/client'
import type { McpEra, McpServerSettings } from '../../protocol/models/mcp.ts'
import { MAX_PAGES } from './listing.ts'
import { loadSdk, type RemoteClient } from './sdk.ts'
import { CONNECT_TIMEOUT_MS, DISCOVERY_TIMEOUT_MS, LEGACY_REMEMBERED_MS } from './timing.ts'
import { type TransportOptions, transportFor } from './transport.ts'

/** Opens clients to one server, one at a time. */
export interface ClientOpener {
  /** The revision that the server last used; null before the first connection. */
  readonly era: McpEra | null
  /**
   * Returns a connected client. `prepare` receives the client before it connects, so that it can add listeners, and a
   * function that aborts the attempt, even while the revision is being detected.
   * @throws the SDK's error if the server cannot be reached; then the revision is detected again.
   */
  open(prepare: (client: RemoteClient, giveUp: () => Promise<void>) => void): Promise<RemoteClient>
}

/** Create one per connection: it remembers which revision the server speaks. */
export function createClientOpener(
  settings: McpServerSettings,
  options: TransportOptions,
): ClientOpener {
  let era: McpEra | null = null
  let remembered: { prior: PriorDiscovery; until: number } | null = null

  const recall = (): PriorDiscovery | undefined =>
    remembered !== null && Date.now() < remembered.until ? remembered.prior : undefined

  return {
    get era() {
      return era
    },
    async open(prepare) {
      const sdk = await loadSdk()
      const client = new sdk.Client(
        { name: 'nanoclaw', version: '1' },
        {
          capabilities: { elicitation: { form: {}, url: {} } },
          versionNegotiation: { mode: 'auto', probe: { timeoutMs: DISCOVERY_TIMEOUT_MS } },
          // Rounds of input are stored with the call, so that they survive a restart.
          inputRequired: { autoFulfill: false },
          listMaxPages: MAX_PAGES,
        },
      )
      const transport = transportFor(settings, sdk, options)
      prepare(client, async () => {
        // The client takes over the transport only once it knows the revision.
        await Promise.allSettled([client.close(), transport.close()])
      })
      const prior = recall()
      try {
        await client.connect(transport, {
          timeout: CONNECT_TIMEOUT_MS,
          ...(prior === undefined ? {} : { prior }),
        })
      } catch (fault) {
        remembered = null
        throw fault
      }
      era = client.getProtocolEra() ?? null
      if (prior === undefined) {
        const discover = client.getDiscoverResult()
        remembered =
          discover === undefined
            ? { prior: { kind: 'legacy' }, until: Date.now() + LEGACY_REMEMBERED_MS }
            : { prior: { kind: 'modern', discover }, until: Number.POSITIVE_INFINITY }
      }
      return client
    },
  }
}
