// Signing in to an MCP server: discovery, client id, PKCE, and the exchange of the code.
import { randomBytes } from 'node:crypto'
import { AppError, appError, errorText } from '../../../errors.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { McpServerSettings } from '../../../protocol/models/mcp.ts'
import { loadSdk, type Sdk } from '../sdk.ts'
import { boundedFetch } from '../transport.ts'
import type { OAuthFetch } from './fetch.ts'
import {
  type McpGrant,
  type McpGrantStore,
  type OAuthClient,
  type PendingSignIn,
  tokensOf,
} from './grant.ts'

/** What the authorization server added to the redirect address. */
export interface Redirected {
  state: string
  code?: string | undefined
  iss?: string | undefined
  error?: string | undefined
}

/** The dependencies of sign-ins to MCP servers. */
export interface SignInOptions {
  grants: Pick<McpGrantStore, 'findClient' | 'saveClient' | 'savePending' | 'consumePending'>
  /** The public HTTPS address of this installation's client metadata document; null if there is none. */
  clientMetadataUrl: string | null
  fetch: OAuthFetch
  log(message: string, detail: Record<string, unknown>): void
}

/** Signs people in to MCP servers: OAuth 2.1 with PKCE. */
export interface SignIns {
  /** @returns the address at which the person signs in. @throws AppError if the server offers no sign-in. */
  begin(
    userId: UserId,
    server: string,
    settings: McpServerSettings,
    redirectUri: string,
  ): Promise<string>
  /**
   * Exchanges the code. Only the user who began the sign-in can finish it, once, at any instance.
   * @throws AppError if the sign-in is unknown, has expired, or was refused.
   */
  finish(userId: UserId, redirected: Redirected): Promise<{ server: string; grant: McpGrant }>
}

/** The metadata of this installation as an OAuth client. */
export const clientMetadata = (redirectUri: string) => ({
  client_name: 'NanoClaw',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

/** What a sign-in needs until the person returns is stored, so that any instance can finish it. */
export function createSignIns(dependencies: SignInOptions): SignIns {
  return {
    begin: (userId, server, settings, redirectUri) =>
      begin(dependencies, userId, server, settings, redirectUri),

    finish: (userId, redirected) => finish(dependencies, userId, redirected),
  }
}

/**
 * The configured client, a metadata document, an earlier registration, or a new one, in the order of the specification.
 */
async function clientFor(
  dependencies: SignInOptions,
  settings: McpServerSettings,
  issuer: string,
  metadata: PendingSignIn['metadata'],
  redirectUri: string,
  sdk: Sdk,
): Promise<OAuthClient> {
  if (settings.oauth?.client_id !== undefined) {
    const { client_id, client_secret } = settings.oauth
    return { client_id, ...(client_secret === undefined ? {} : { client_secret }) }
  }
  if (
    dependencies.clientMetadataUrl !== null &&
    metadata?.client_id_metadata_document_supported === true
  )
    return { client_id: dependencies.clientMetadataUrl }
  const known = await dependencies.grants.findClient(issuer, redirectUri)
  if (known !== undefined) return known
  if (metadata?.registration_endpoint === undefined) throw appError('mcp_client_not_configured')
  const registered = await sdk.registerClient(issuer, {
    metadata,
    clientMetadata: { ...clientMetadata(redirectUri), application_type: 'web' },
    fetchFn: dependencies.fetch(settings.url ?? ''),
  })
  const { client_id, client_secret } = registered
  const client = { client_id, ...(client_secret === undefined ? {} : { client_secret }) }
  await dependencies.grants.saveClient(issuer, redirectUri, client)
  return client
}

async function begin(
  dependencies: SignInOptions,
  userId: UserId,
  server: string,
  settings: McpServerSettings,
  redirectUri: string,
): Promise<string> {
  const url = settings.url ?? ''
  const sdk = await loadSdk()
  try {
    const challenge = await challengeOf(url, sdk)
    const info = await sdk.discoverOAuthServerInfo(url, {
      fetchFn: dependencies.fetch(url),
      ...(challenge.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    })
    const own = sdk.resourceUrlFromServerUrl(url)
    const resource = info.resourceMetadata?.resource ?? own.href
    if (!sdk.checkResourceAllowed({ requestedResource: own, configuredResource: resource }))
      throw new Error('the protected resource metadata is for another server')
    const issuer = info.authorizationServerUrl
    const metadata = info.authorizationServerMetadata
    const client = await clientFor(dependencies, settings, issuer, metadata, redirectUri, sdk)
    const scope =
      settings.oauth?.scope ?? challenge.scope ?? info.resourceMetadata?.scopes_supported?.join(' ')
    const state = randomBytes(32).toString('base64url')
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(issuer, {
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      resource,
      ...(scope === undefined ? {} : { scope }),
      ...(metadata === undefined ? {} : { metadata }),
    })
    if (!/^https?:$/.test(authorizationUrl.protocol))
      throw new Error('the authorization server has no web address')
    await dependencies.grants.savePending(userId, state, {
      server,
      url,
      issuer,
      client,
      resource,
      codeVerifier,
      redirectUri,
      ...(metadata === undefined ? {} : { metadata }),
      ...(scope === undefined ? {} : { scope }),
    })
    return authorizationUrl.href
  } catch (fault) {
    if (fault instanceof AppError) throw fault
    dependencies.log('signing in to an MCP server is not possible', {
      server,
      cause: errorText(fault),
    })
    throw appError('mcp_sign_in_unavailable', { server })
  }
}

async function finish(
  dependencies: SignInOptions,
  userId: UserId,
  { state, code, iss, error }: Redirected,
): Promise<{ server: string; grant: McpGrant }> {
  const begun = await dependencies.grants.consumePending(userId, state)
  if (begun === undefined) throw appError('mcp_sign_in_unknown')
  const { server, codeVerifier, redirectUri, ...grant } = begun
  const sdk = await loadSdk()
  try {
    // Checked before an error is believed, too: it may come from another authorization server.
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: grant.metadata?.issuer,
      issParameterSupported:
        grant.metadata?.authorization_response_iss_parameter_supported === true,
    })
    if (error !== undefined || code === undefined) throw appError('mcp_sign_in_refused', { server })
    const tokens = await sdk.exchangeAuthorization(grant.issuer, {
      clientInformation: grant.client,
      authorizationCode: code,
      codeVerifier,
      redirectUri,
      resource: grant.resource,
      fetchFn: dependencies.fetch(grant.url),
      ...(iss === undefined ? {} : { iss }),
      ...(grant.metadata === undefined ? {} : { metadata: grant.metadata }),
    })
    return { server, grant: { ...grant, ...tokensOf(tokens, Date.now()) } }
  } catch (fault) {
    if (fault instanceof AppError) throw fault
    dependencies.log('signing in to an MCP server failed', {
      server,
      cause: fault instanceof sdk.OAuthError ? fault.code : errorText(fault),
    })
    throw appError('mcp_sign_in_refused', { server })
  }
}

const serverFetch = boundedFetch(() => false)

/** What the server's response to a request without a token says: where its metadata is, and the scope to request. */
async function challengeOf(url: string, sdk: Sdk) {
  const response = await serverFetch(url, {
    method: 'POST',
    // Only the administrator may choose the address of a server, so redirects are not followed.
    redirect: 'manual',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: {} }),
  })
  await response.body?.cancel()
  return response.status === 401 ? sdk.extractWWWAuthenticateParams(response) : {}
}
