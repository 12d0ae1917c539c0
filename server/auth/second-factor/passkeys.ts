// Passkeys (WebAuthn): registering them and signing in with them. A challenge is sealed, short-lived and works once.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { AuditRepository } from '../../db/repositories/accounts/audit.ts'
import type {
  PasskeyRow,
  SecondFactorRepository,
} from '../../db/repositories/accounts/second-factors.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import { atMost } from '../../lib/lru-limit.ts'
import {
  type PasskeyAssertion,
  type PasskeyAttestation,
  PasskeyTransport,
} from '../../protocol/accounts/second-factor.ts'
import type { Actor } from '../../protocol/admin/audit.ts'
import { UserId } from '../../protocol/ids.ts'
import type { SecretBox } from '../secret-box.ts'

/** The page's address. Passkeys belong to its host name and work nowhere else. */
export interface Site {
  /** For example `https://chat.example.org`; empty if unknown. */
  origin: string
}

/** Adding passkeys and signing in with them (WebAuthn). */
export interface Passkeys {
  /** Whether browsers offer passkeys at this address. */
  areAvailable(site: Site): boolean
  /** @throws AppError `passkey_unavailable`. */
  beginRegistration(user: UserRow, site: Site): Promise<PasskeyRequest>
  /** Adds the passkey and its audit entry. @throws AppError `passkey_invalid`, `second_factor_expired`, `passkeys_exhausted`. */
  register(
    user: UserRow,
    site: Site,
    given: { challenge: string; name: string; response: PasskeyAttestation },
    actor: Actor,
  ): Promise<PasskeyRow>
  /** @param user whose passkeys to request; if absent, the browser offers all it has. */
  beginSignIn(site: Site, user?: UserId): Promise<PasskeyRequest>
  /** The owner of a passkey. @throws AppError `passkey_invalid`, `second_factor_expired`. */
  verify(site: Site, given: { challenge: string; response: PasskeyAssertion }): Promise<UserRow>
}

/** What the browser needs to create or use a passkey, and what the server needs to recognize its response. */
export interface PasskeyRequest {
  /** For the browser. */
  options: object
  /** Send it back with the browser's response. */
  challenge: string
}

const MAX_PASSKEYS = 20
const CHALLENGE_LIFETIME_MS = 5 * 60_000
/** Maximum number of used challenges that are remembered; more than the sign-ins within five minutes. */
const MAX_USED = 50_000
const SITE_NAME = 'NanoClaw'
const SEAL_PURPOSE = 'passkey challenge'

const Challenge = z.object({
  challenge: z.string(),
  kind: z.enum(['registration', 'sign-in']),
  userId: UserId.nullable(),
  until: z.number(),
})

/** Where passkeys are, and what happens with them. */
interface PasskeysDependencies {
  factors: SecondFactorRepository
  audit: Pick<AuditRepository, 'record'>
  box: SecretBox
  now(): Date
}

/** Create one per process: it remembers the challenges that were used. */
export function createPasskeys(dependencies: PasskeysDependencies): Passkeys {
  const parts = challenges(dependencies)
  return {
    ...registering(dependencies, parts),
    ...signingIn(dependencies, parts),
  }
}

/** Challenges, which only this server can have made, each for one use. */
function challenges({ box, now }: PasskeysDependencies) {
  const used = new LRUCache<string, true>({ ...atMost(MAX_USED), ttl: CHALLENGE_LIFETIME_MS })

  const seal = (
    challenge: string,
    kind: 'registration' | 'sign-in',
    userId: UserId | null,
  ): string => {
    const until = now().getTime() + CHALLENGE_LIFETIME_MS
    return box.seal(JSON.stringify({ challenge, kind, userId, until }), SEAL_PURPOSE)
  }

  /** Takes a challenge, which then no longer works. */
  function openChallenge(
    sealed: string,
    kind: 'registration' | 'sign-in',
  ): { challenge: string; userId: UserId | null } {
    let read: z.output<typeof Challenge>
    try {
      read = Challenge.parse(JSON.parse(box.open(sealed, SEAL_PURPOSE)))
    } catch (cause) {
      throw appError('second_factor_expired', {}, { cause })
    }
    if (read.kind !== kind || read.until < now().getTime() || used.has(read.challenge))
      throw appError('second_factor_expired')
    used.set(read.challenge, true)
    return read
  }

  return { seal, openChallenge }
}

type Challenges = ReturnType<typeof challenges>

/** New passkeys. */
function registering(
  { factors, audit, now }: PasskeysDependencies,
  { seal, openChallenge }: Challenges,
): Pick<Passkeys, 'beginRegistration' | 'register'> {
  return {
    async beginRegistration(user, site) {
      if (!areAvailable(site)) throw appError('passkey_unavailable')
      const { generateRegistrationOptions } = await import('@simplewebauthn/server')
      const options = await generateRegistrationOptions({
        rpName: SITE_NAME,
        rpID: new URL(site.origin).hostname,
        userName: user.username,
        userID: new Uint8Array(Buffer.from(user.id)),
        excludeCredentials: (await factors.passkeysOf(user.id)).map(presentCredential),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      })
      return { options, challenge: seal(options.challenge, 'registration', user.id) }
    },

    async register(user, site, { challenge: sealed, name, response }, actor) {
      if (!areAvailable(site)) throw appError('passkey_unavailable')
      const { challenge, userId } = openChallenge(sealed, 'registration')
      if (userId !== user.id) throw appError('second_factor_expired')
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
      const { registrationInfo } = await verifyRegistrationResponse({
        response: {
          ...response,
          response: {
            clientDataJSON: response.response.clientDataJSON,
            attestationObject: response.response.attestationObject,
          },
          clientExtensionResults: {},
        },
        expectedChallenge: challenge,
        expectedOrigin: site.origin,
        expectedRPID: new URL(site.origin).hostname,
        requireUserVerification: true,
      }).catch(refuse)
      if (registrationInfo === undefined) throw appError('passkey_invalid')
      const { credential } = registrationInfo
      const passkey: PasskeyRow = {
        id: credential.id,
        userId: user.id,
        name,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: (response.response.transports ?? []).flatMap(
          (one) => PasskeyTransport.safeParse(one).data ?? [],
        ),
        createdAt: now(),
        lastUsedAt: null,
      }
      if ((await factors.findPasskey(passkey.id)) !== undefined) throw appError('passkey_invalid')
      const isAdded = await factors.addPasskey(passkey, MAX_PASSKEYS, (tx) =>
        audit.record(tx, actor, {
          action: 'second_factor_added',
          at: now(),
          details: { kind: 'passkey', name },
        }),
      )
      if (!isAdded) throw appError('passkeys_exhausted', { limit: MAX_PASSKEYS })
      return passkey
    },
  }
}

/** Sign-ins with a passkey. */
function signingIn(
  { factors, now }: PasskeysDependencies,
  { seal, openChallenge }: Challenges,
): Pick<Passkeys, 'areAvailable' | 'beginSignIn' | 'verify'> {
  return {
    areAvailable,

    async beginSignIn(site, user) {
      if (!areAvailable(site)) throw appError('passkey_unavailable')
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
      const options = await generateAuthenticationOptions({
        rpID: new URL(site.origin).hostname,
        userVerification: 'required',
        allowCredentials:
          user === undefined ? [] : (await factors.passkeysOf(user)).map(presentCredential),
      })
      return { options, challenge: seal(options.challenge, 'sign-in', user ?? null) }
    },

    async verify(site, { challenge: sealed, response }) {
      if (!areAvailable(site)) throw appError('passkey_unavailable')
      const { challenge, userId } = openChallenge(sealed, 'sign-in')
      const found = await factors.findPasskey(response.id)
      if (found === undefined || (userId !== null && found.user.id !== userId))
        throw appError('passkey_invalid')
      const { passkey, user } = found
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: {
          id: response.id,
          rawId: response.rawId,
          type: response.type,
          response: {
            clientDataJSON: response.response.clientDataJSON,
            authenticatorData: response.response.authenticatorData,
            signature: response.response.signature,
          },
          clientExtensionResults: {},
        },
        expectedChallenge: challenge,
        expectedOrigin: site.origin,
        expectedRPID: new URL(site.origin).hostname,
        credential: {
          id: passkey.id,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
          counter: passkey.counter,
        },
        requireUserVerification: true,
      }).catch(refuse)
      if (!verified) throw appError('passkey_invalid')
      await factors.touchPasskey(passkey.id, authenticationInfo.newCounter, now())
      return user
    },
  }
}

/** Browsers offer no passkeys for IP addresses, nor without TLS except on localhost. */
function areAvailable({ origin }: Site): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isName = /[a-z]/i.test(hostname) && !hostname.startsWith('[')
  return isLocal || (protocol === 'https:' && isName)
}

const presentCredential = ({
  id,
  transports,
}: PasskeyRow): { id: string; transports: string[] } => ({ id, transports })

/** The library throws at the first mismatch. */
function refuse(cause: unknown): never {
  throw appError('passkey_invalid', {}, { cause })
}
