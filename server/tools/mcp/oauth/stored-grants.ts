// Sign-ins to MCP servers, sealed with the key of this installation.
import { createHash } from 'node:crypto'
import { openIfReadable, type SecretBox } from '../../../auth/secret-box.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { McpGrant, type McpGrantStore, OAuthClient, PendingSignIn } from './grant.ts'

/** Where sealed sign-ins and registrations are stored. */
export interface SealedGrants {
  find(userId: UserId, server: string): Promise<string | undefined>
  save(userId: UserId, server: string, sealed: string): Promise<void>
  remove(userId: UserId, server: string): Promise<void>
  findClient(issuer: string, redirectUri: string): Promise<string | undefined>
  saveClient(issuer: string, redirectUri: string, sealed: string): Promise<void>
  /** Removes expired ones, too. */
  saveSignIn(
    row: { stateHash: string; userId: UserId; sealed: string; expiresAt: Date },
    now: Date,
  ): Promise<void>
  /** Removes and returns it, unless it is another user's or expired. */
  consumeSignIn(stateHash: string, userId: UserId, now: Date): Promise<string | undefined>
}

/** The purpose with which grants and clients are sealed. */
export const mcpGrantPurpose = (userId: string, server: string): string =>
  `mcp grant of ${userId}: ${server}`
/** The purpose with which the registration at an authorization server is sealed. */
export const mcpClientPurpose = (issuer: string): string => `mcp client at ${issuer}`
const signInPurpose = (stateHash: string): string => `mcp sign-in ${stateHash}`

/** A sign-in expires after this time, and the person starts again. */
const SIGN_IN_MS = 10 * 60_000

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex')

/** Seals what it writes, and opens and parses what it reads; the store sees only sealed text. */
export function createMcpGrantStore(
  repository: SealedGrants,
  box: SecretBox,
  now: () => Date,
): McpGrantStore {
  return {
    async find(userId, server) {
      const sealed = await repository.find(userId, server)
      if (sealed === undefined) return undefined
      // After the key was replaced, the person signs in again.
      const text = openIfReadable(box, sealed, mcpGrantPurpose(userId, server))
      return text === null ? undefined : McpGrant.parse(JSON.parse(text))
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
      const text = openIfReadable(box, sealed, mcpClientPurpose(issuer))
      return text === null ? undefined : OAuthClient.parse(JSON.parse(text))
    },
    saveClient: (issuer, redirectUri, client) =>
      repository.saveClient(
        issuer,
        redirectUri,
        box.seal(JSON.stringify(client), mcpClientPurpose(issuer)),
      ),
    savePending(userId, state, pending) {
      const stateHash = hashOf(state)
      const sealed = box.seal(JSON.stringify(pending), signInPurpose(stateHash))
      const begun = now()
      const expiresAt = new Date(begun.getTime() + SIGN_IN_MS)
      return repository.saveSignIn({ stateHash, userId, sealed, expiresAt }, begun)
    },
    async consumePending(userId, state) {
      const stateHash = hashOf(state)
      const sealed = await repository.consumeSignIn(stateHash, userId, now())
      if (sealed === undefined) return undefined
      const text = openIfReadable(box, sealed, signInPurpose(stateHash))
      return text === null ? undefined : PendingSignIn.parse(JSON.parse(text))
    },
  }
}

export const CLIENT_METADATA_PATH = '/api/mcp/client.json'

/** The URL of the client metadata that authorization servers read; they require HTTPS. */
export const clientMetadataUrl = (publicUrl: string | undefined): string | null =>
  publicUrl?.startsWith('https:') === true
    ? `${publicUrl.replace(/\/+$/, '')}${CLIENT_METADATA_PATH}`
    : null
