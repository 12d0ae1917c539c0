// Tables of MCP servers, and of the users who signed in to them.
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>

/** Addresses, headers and tokens are sealed. */
export function defineMcpTables(c: Columns, { users }: Accounts) {
  /** MCP servers that an administrator added, and those of `config.yml` that one switched on or off. */
  const mcpServers = c.table('mcp_servers', {
    name: c.text('name').primaryKey(),
    /** Its settings with address and headers; null for a server of `config.yml`. */
    sealedSettings: c.text('sealed_settings'),
    isEnabled: c.boolean('is_enabled').notNull(),
    /** The names of its tools that an administrator switched off; null if none. */
    disabledTools: c.json<readonly string[]>('disabled_tools'),
    createdAt: c.time('created_at').notNull(),
  })

  /** Users who signed in to MCP servers; the tokens are sealed. */
  const mcpGrants = c.table(
    'mcp_grants',
    {
      userId: ownedBy(c, users),
      /** Its name in the configuration. */
      server: c.text('server').notNull(),
      sealed: c.text('sealed').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.server] })],
  )

  /** Registrations of this installation at the authorization servers of MCP servers. */
  const mcpClients = c.table(
    'mcp_clients',
    {
      issuer: c.text('issuer').notNull(),
      redirectUri: c.text('redirect_uri').notNull(),
      sealed: c.text('sealed').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.issuer, t.redirectUri] })],
  )

  /** Pending sign-ins to MCP servers; any instance can complete them. */
  const mcpSignIns = c.table(
    'mcp_sign_ins',
    {
      /** The hash of the `state` in the address, which only the user's browser and the authorization server know. */
      stateHash: c.text('state_hash').primaryKey(),
      userId: ownedBy(c, users),
      sealed: c.text('sealed').notNull(),
      expiresAt: c.time('expires_at').notNull(),
    },
    (t) => [
      c.index('mcp_sign_ins_user').on(t.userId, t.expiresAt),
      c.index('mcp_sign_ins_expiry').on(t.expiresAt),
    ],
  )

  /** Domains that people allowed the apps of MCP servers, by server and list. */
  const mcpAppDomains = c.table(
    'mcp_app_domains',
    {
      userId: ownedBy(c, users),
      /** Its name in the configuration. */
      server: c.text('server').notNull(),
      /** SHA-256 of the list. */
      hash: c.text('hash').notNull(),
      domains: c.json<readonly string[]>('domains').notNull(),
      allowedAt: c.time('allowed_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.server, t.hash] })],
  )

  return { mcpServers, mcpGrants, mcpClients, mcpSignIns, mcpAppDomains }
}
