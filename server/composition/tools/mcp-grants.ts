// The sign-ins to MCP servers, sealed with the key of this installation.
import type { SecretBox } from '../../auth/secret-box.ts'
import type { McpGrantRepository } from '../../db/repositories/accounts/mcp-grants.ts'
import { McpGrant, type McpGrantStore, OAuthClient } from '../../tools/mcp/oauth/grant.ts'

/** What grants and clients are sealed for. */
export const mcpGrantPurpose = (userId: string, server: string): string =>
  `mcp grant of ${userId}: ${server}`
export const mcpClientPurpose = (issuer: string): string => `mcp client at ${issuer}`

export function createMcpGrantStore(repository: McpGrantRepository, box: SecretBox): McpGrantStore {
  return {
    async find(userId, server) {
      const sealed = await repository.find(userId, server)
      if (sealed === undefined) return undefined
      return McpGrant.parse(JSON.parse(box.open(sealed, mcpGrantPurpose(userId, server))))
    },
    save: (userId, server, grant) =>
      repository.save(
        userId,
        server,
        box.seal(JSON.stringify(grant), mcpGrantPurpose(userId, server)),
      ),
    remove: repository.remove,
    async findClient(issuer, redirectUri) {
      const sealed = await repository.findClient(issuer, redirectUri)
      if (sealed === undefined) return undefined
      return OAuthClient.parse(JSON.parse(box.open(sealed, mcpClientPurpose(issuer))))
    },
    saveClient: (issuer, redirectUri, client) =>
      repository.saveClient(
        issuer,
        redirectUri,
        box.seal(JSON.stringify(client), mcpClientPurpose(issuer)),
      ),
  }
}

export const CLIENT_METADATA_PATH = '/api/mcp/client.json'

/** Where authorization servers read who this installation is: they require HTTPS. */
export const clientMetadataUrl = (publicUrl: string | undefined): string | null =>
  publicUrl?.startsWith('https:') === true
    ? `${publicUrl.replace(/\/+$/, '')}${CLIENT_METADATA_PATH}`
    : null
