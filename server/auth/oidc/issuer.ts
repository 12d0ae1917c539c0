// The connection to the issuer: discovery in the background, cached and retried, and the calls of the code flow.
import type * as openid from 'openid-client'
import { z } from 'zod'
import { appError, errorText } from '../../errors.ts'
import { isRecord } from '../../lib/records.ts'
import { parseJson } from '../../protocol/read-json.ts'
import { togetherOf } from './claims.ts'
import type { OidcSettings } from './settings.ts'

/** How requests reach the issuer: bounded in size and time. */
export type IssuerFetch = (
  url: string,
  options: { method: string; body: string | null; headers: Record<string, string> },
) => Promise<Response>

/** A sign-in in progress: what the browser keeps in a sealed cookie until the issuer redirects it back. */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
}

/** The person whom an issuer has signed in, from its ID token. */
export interface SignedInAtIssuer {
  issuer: string
  subject: string
  claims: Readonly<Record<string, unknown>>
  idToken: string
}

/** An OpenID Connect provider: its addresses and keys are discovered and kept current. */
export interface Issuer {
  /** Begins discovery; returns at once. */
  prepare(): void
  /** @throws AppError `oidc_unreachable`. */
  begin(redirectUri: string): Promise<{ url: string; attempt: Attempt }>
  /**
   * Checks the issuer's response and redeems its code.
   * @param callback the redirect address, as the issuer knows it.
   * @param needsUserInfo whether the ID token's claims are not enough.
   * @throws AppError `oidc_unreachable`, `oidc_refused`, `oidc_response_invalid`.
   */
  finish(
    callback: URL,
    attempt: Attempt,
    needsUserInfo: (claims: SignedInAtIssuer['claims']) => boolean,
  ): Promise<SignedInAtIssuer>
  /** Where the browser ends the session at the issuer; null if the issuer has no such address or is not discovered yet. */
  logoutUrl(idToken: string, returnTo: string): string | null
  close(): void
}

/** How long a discovery is used before it is repeated. If repeating fails, the earlier one stays in use. */
const FRESH_MS = 60 * 60_000
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 60_000

interface IssuerOptions {
  settings: OidcSettings
  fetch: IssuerFetch
  log: { warn(details: object, message: string): void }
  now(): Date
}

/** The options, and what is known of the issuer. */
interface OpenIssuer extends IssuerOptions {
  known: { configuration: openid.Configuration; at: number } | undefined
  /** The discovery in progress. */
  running: Promise<openid.Configuration> | undefined
  /** The next attempt to prepare. */
  timer: NodeJS.Timeout | undefined
  closed: boolean
}

/** Sends no request before it is prepared or used. */
export function createIssuer(options: IssuerOptions): Issuer {
  const { settings } = options
  const opened: OpenIssuer = {
    ...options,
    known: undefined,
    running: undefined,
    timer: undefined,
    closed: false,
  }

  return {
    prepare: () => prepare(opened, FIRST_PAUSE_MS),

    async begin(redirectUri) {
      const library = await import('openid-client')
      const found = await configuration(opened)
      const attempt: Attempt = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      }
      const url = library.buildAuthorizationUrl(found, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, attempt }
    },

    async finish(callback, attempt, needsUserInfo) {
      const library = await import('openid-client')
      const found = await configuration(opened)
      try {
        const tokens = await library.authorizationCodeGrant(found, callback, {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined || tokens.id_token === undefined)
          throw appError('oidc_response_invalid')
        const asksMore =
          needsUserInfo(claims) && found.serverMetadata().userinfo_endpoint !== undefined
        const more = asksMore
          ? await library.fetchUserInfo(found, tokens.access_token, claims.sub)
          : {}
        return {
          issuer: claims.iss,
          subject: claims.sub,
          claims: togetherOf(claims, more, settings),
          idToken: tokens.id_token,
        }
      } catch (error) {
        throw refusalOf(library, error)
      }
    },

    logoutUrl(idToken, returnTo) {
      const endpoint = opened.known?.configuration.serverMetadata().end_session_endpoint
      if (endpoint === undefined || !URL.canParse(endpoint)) return null
      const url = new URL(endpoint)
      url.searchParams.set('id_token_hint', idToken)
      url.searchParams.set('client_id', settings.clientId)
      url.searchParams.set('post_logout_redirect_uri', returnTo)
      return url.href
    },

    close() {
      opened.closed = true
      clearTimeout(opened.timer)
    },
  }
}

/** A set of keys without what is no key: for one of them, the library would refuse them all. Other responses are unchanged. */
async function withReadableKeys(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status !== 200 || !/\bjson\b/.test(type)) return response
  const set = KeySet.safeParse(parseJson(await response.clone().text())).data
  if (set === undefined || set.keys.every(isRecord)) return response
  const readable = JSON.stringify({ keys: set.keys.filter(isRecord) })
  return new Response(readable, { headers: { 'content-type': type } })
}

const KeySet = z.object({ keys: z.array(z.unknown()) })

async function discover(opened: OpenIssuer): Promise<openid.Configuration> {
  const { settings, fetch, now } = opened
  const library = await import('openid-client')
  const { issuer, clientId, clientSecret } = settings
  const configuration = await library.discovery(
    new URL(issuer),
    clientId,
    clientSecret,
    clientSecret === undefined ? library.None() : secretAuthentication(library, clientSecret),
    {
      [library.customFetch]: async (url, { method, body, headers }) =>
        withReadableKeys(
          await fetch(url, { method, headers, body: body == null ? null : String(body) }),
        ),
      execute: [
        // The signature of the ID token is checked although it comes directly from the issuer.
        library.enableNonRepudiationChecks,
        ...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : []),
      ],
    },
  )
  opened.known = { configuration, at: now().getTime() }
  return configuration
}

/** One discovery at a time. */
const configuration = async (opened: OpenIssuer): Promise<openid.Configuration> => {
  const { now, log, settings } = opened
  if (opened.known !== undefined && now().getTime() - opened.known.at < FRESH_MS)
    return opened.known.configuration
  opened.running ??= discover(opened).finally(() => {
    opened.running = undefined
  })
  try {
    return await opened.running
  } catch (cause) {
    log.warn({ cause: errorText(cause), issuer: settings.issuer }, 'the issuer is unavailable')
    if (opened.known !== undefined) return opened.known.configuration
    throw appError('oidc_unreachable', {}, { cause })
  }
}

function prepare(opened: OpenIssuer, pauseMs: number): void {
  configuration(opened).catch(() => {
    if (opened.closed) return
    opened.timer = setTimeout(
      () => prepare(opened, Math.min(pauseMs * 2, LONGEST_PAUSE_MS)),
      pauseMs,
    )
    opened.timer.unref()
  })
}

/** The method that the issuer supports; if it names none, the specification's default. */
function secretAuthentication(library: typeof openid, secret: string): openid.ClientAuth {
  const basic = library.ClientSecretBasic(secret)
  const post = library.ClientSecretPost(secret)
  return (issuer, ...rest) => {
    const methods = issuer.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isBasic =
      methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
    return (isBasic ? basic : post)(issuer, ...rest)
  }
}

/** Only the log contains the details: they do not help the person, and may quote the issuer. */
function refusalOf(library: typeof openid, cause: unknown): Error {
  if (cause instanceof library.AuthorizationResponseError)
    return appError('oidc_refused', {}, { cause })
  if (
    cause instanceof IssuerUnreachable ||
    (cause instanceof Error && cause.cause instanceof IssuerUnreachable)
  )
    return appError('oidc_unreachable', {}, { cause })
  return appError('oidc_response_invalid', {}, { cause })
}

/** Thrown by an `IssuerFetch` when there was no response. */
export class IssuerUnreachable extends Error {}
