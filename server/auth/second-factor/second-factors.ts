// Second factors of accounts: when a sign-in needs one, setting them up, and removing them.
import { createHash, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { z } from 'zod'
import type { Writer } from '../../db/database.ts'
import type { AuditRepository } from '../../db/repositories/accounts/audit.ts'
import type {
  PasskeyRow,
  SecondFactorRepository,
} from '../../db/repositories/accounts/second-factors.ts'
import type { UserRepository, UserRow } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import type { Limits } from '../../lib/limits.ts'
import type { SecondFactorDetails } from '../../protocol/accounts/second-factor.ts'
import type { Actor, AuditAction, AuditDetails } from '../../protocol/admin/audit.ts'
import { UserId } from '../../protocol/ids.ts'
import { openIfReadable, type SecretBox } from '../secret-box.ts'

// One-time codes of authenticator apps (RFC 6238), and recovery codes.

const PERIOD_SECONDS = 30
/** Codes of the previous and next step are accepted, too: clocks differ, and typing takes time. */
const TOLERATED_STEPS = 1
const RECOVERY_CODES = 10
/** Contains no letters that look like digits. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 3
const GROUP_CHARACTERS = 5

/** 160 random bits in Base32, the format of authenticator apps. */
const newTotpSecret = (): string => new Secret({ size: 20 }).base32

/** The content of the QR code. */
const totpUri = (secret: string, label: string, issuer: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret), label, issuer, period: PERIOD_SECONDS }).toString()

/** The time step of this code; null if it is wrong or too old. */
function stepOfCode(secret: string, code: string, now: Date): number | null {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD_SECONDS })
  const timestamp = now.getTime()
  const delta = totp.validate({ token, timestamp, window: TOLERATED_STEPS })
  return delta === null ? null : Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta
}

/** 74 random bits each, so a fast hash is enough. */
const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    Array.from({ length: GROUPS }, () =>
      Array.from({ length: GROUP_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
    ).join('-'),
  )

/** The hash is the same however the code is typed. */
const hashRecoveryCode = (code: string): string =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest('hex')

/** Authenticator apps, recovery codes, and when they are needed. What changes them leaves its audit entry. */
export interface SecondFactors {
  /** The factors that complete the sign-in; null if the password is enough. */
  needed(user: UserRow): Promise<SecondFactorDetails | null>
  /** The user whose password was correct. @throws AppError `second_factor_expired`, `session_ended`. */
  challenged(challenge: string): Promise<UserRow>
  /** Counts an attempt. @throws AppError `sign_ins_exhausted`. */
  limit(user: UserRow): Promise<void>
  /**
   * Accepts a code of the authenticator app or a recovery code, once.
   * @returns which of them it was. @throws AppError `second_factor_code_wrong`.
   */
  acceptCode(user: UserRow, code: string): Promise<'totp' | 'recovery_code'>
  state(userId: UserId): Promise<{ totp: boolean; passkeys: PasskeyRow[]; recoveryCodes: number }>
  /** @throws AppError `second_factor_set`. */
  beginTotp(user: UserRow): Promise<{ secret: string; uri: string }>
  /** The first code proves that the app works. @throws AppError `second_factor_missing`, `second_factor_code_wrong`. */
  confirmTotp(user: UserRow, code: string, actor: Actor): Promise<void>
  /** @throws AppError `second_factor_missing`. */
  removeTotp(userId: UserId, actor: Actor): Promise<void>
  /** @throws AppError `passkey_not_found`. */
  removePasskey(userId: UserId, id: string, actor: Actor): Promise<void>
  /** Replaces all recovery codes. @throws AppError `second_factor_missing`. */
  createRecoveryCodes(userId: UserId, actor: Actor): Promise<string[]>
  /** Creates recovery codes if there are none; otherwise returns null. Call it when a factor was added, whose entry names the act. */
  ensureRecoveryCodes(userId: UserId): Promise<string[] | null>
  /** Removes all second factors for `actor`. */
  reset(account: ResetAccount, actor: Actor): Promise<void>
}

type ResetAccount = Pick<UserRow, 'id' | 'username'>

/** Removes all second factors of an account and adds the audit entry; the password alone is then enough to sign in. */
export const resetSecondFactors = (
  { factors, audit, now }: Pick<SecondFactorDependencies, 'factors' | 'audit' | 'now'>,
  { id, username }: ResetAccount,
  actor: Actor,
): Promise<void> =>
  factors.reset(id, (tx) =>
    audit.record(tx, actor, {
      action: 'second_factor_reset',
      at: now(),
      details: { id, account: username },
    }),
  )

const CHALLENGE_LIFETIME_MS = 5 * 60_000
const CHALLENGE_PURPOSE = 'second factor'
/** Wrong codes per account. Anyone who guesses codes already knows the password. */
const ATTEMPTS = { limit: 10, windowMs: 5 * 60_000 }
const ISSUER_NAME = 'NanoClaw'

/** The purpose for which an authenticator app's secret is sealed. */
export const totpPurpose = (userId: string): string => `totp of ${userId}`

const Challenge = z.object({ userId: UserId, version: z.int(), until: z.number() })

/** The dependencies of second factors. */
export interface SecondFactorDependencies {
  factors: SecondFactorRepository
  audit: Pick<AuditRepository, 'record'>
  users: Pick<UserRepository, 'find'>
  box: SecretBox
  limits: Limits
  now(): Date
}

/**
 * `box` seals the secrets of authenticator apps. Wrong codes are limited for each account, on all
 * instances together.
 */
export function createSecondFactors(dependencies: SecondFactorDependencies): SecondFactors {
  return {
    ...secondSteps(dependencies),
    ...ownFactors(dependencies),
  }
}

/** The second step of a sign-in. */
function secondSteps({
  factors,
  users,
  box,
  limits,
  now,
}: SecondFactorDependencies): Pick<
  SecondFactors,
  'needed' | 'challenged' | 'limit' | 'acceptCode'
> {
  const attempts = limits.rateLimit('second factors', ATTEMPTS)
  return {
    async needed({ id, tokenVersion }) {
      const [totp, passkeys] = await Promise.all([factors.totp(id), factors.passkeysOf(id)])
      const hasTotp = totp !== undefined && totp.confirmedAt !== null
      if (!hasTotp && passkeys.length === 0) return null
      const hasCodes = (await factors.recoveryCodesLeft(id)) > 0
      const until = now().getTime() + CHALLENGE_LIFETIME_MS
      return {
        challenge: box.seal(
          JSON.stringify({ userId: id, version: tokenVersion, until }),
          CHALLENGE_PURPOSE,
        ),
        methods: [
          ...(hasTotp ? (['totp'] as const) : []),
          ...(passkeys.length > 0 ? (['passkey'] as const) : []),
          ...(hasCodes ? (['recovery_code'] as const) : []),
        ],
      }
    },

    async challenged(challenge) {
      let read: z.output<typeof Challenge>
      try {
        read = Challenge.parse(JSON.parse(box.open(challenge, CHALLENGE_PURPOSE)))
      } catch (cause) {
        throw appError('second_factor_expired', {}, { cause })
      }
      if (read.until < now().getTime()) throw appError('second_factor_expired')
      const user = await users.find(read.userId)
      // A password change or disabling the account ends a sign-in that is half done.
      if (user?.isActive !== true || user.tokenVersion !== read.version)
        throw appError('second_factor_expired')
      return user
    },

    async limit({ id }) {
      const retryAfter = await attempts.acquire(id)
      if (retryAfter !== null) throw appError('sign_ins_exhausted', {}, { retryAfter })
    },

    async acceptCode({ id }, code) {
      const totp = await factors.totp(id)
      const sealed = totp?.confirmedAt == null ? null : totp.sealedSecret
      const secret = sealed === null ? null : openIfReadable(box, sealed, totpPurpose(id))
      if (secret !== null) {
        const step = stepOfCode(secret, code, now())
        if (step !== null && (await factors.consumeStep(id, step))) return 'totp'
      }
      if (await factors.consumeRecoveryCode(id, hashRecoveryCode(code))) return 'recovery_code'
      // Nobody can know whether the code is right; a recovery code still gets its owner in.
      if (sealed !== null && secret === null) throw appError('second_factor_unreadable')
      throw appError('second_factor_code_wrong')
    },
  }
}

/** What users set up. */
function ownFactors({
  factors,
  audit,
  box,
  now,
}: SecondFactorDependencies): Pick<
  SecondFactors,
  | 'state'
  | 'beginTotp'
  | 'confirmTotp'
  | 'removeTotp'
  | 'removePasskey'
  | 'createRecoveryCodes'
  | 'ensureRecoveryCodes'
  | 'reset'
> {
  const recorded =
    (actor: Actor, action: AuditAction, details: AuditDetails) =>
    (tx: Writer): Promise<void> =>
      audit.record(tx, actor, { action, at: now(), details })

  async function replaceRecoveryCodes(
    userId: UserId,
    after?: (tx: Writer) => Promise<void>,
  ): Promise<string[]> {
    const codes = newRecoveryCodes()
    await factors.replaceRecoveryCodes(userId, codes.map(hashRecoveryCode), after)
    return codes
  }

  async function state(userId: UserId) {
    const [totp, passkeys, recoveryCodes] = await Promise.all([
      factors.totp(userId),
      factors.passkeysOf(userId),
      factors.recoveryCodesLeft(userId),
    ])
    return { totp: totp !== undefined && totp.confirmedAt !== null, passkeys, recoveryCodes }
  }

  return {
    state,

    async beginTotp({ id, username }) {
      const secret = newTotpSecret()
      if (!(await factors.beginTotp(id, box.seal(secret, totpPurpose(id)))))
        throw appError('second_factor_set')
      return { secret, uri: totpUri(secret, username, ISSUER_NAME) }
    },

    async confirmTotp({ id }, code, actor) {
      const totp = await factors.totp(id)
      if (totp === undefined || totp.confirmedAt !== null) throw appError('second_factor_missing')
      const step = stepOfCode(box.open(totp.sealedSecret, totpPurpose(id)), code, now())
      const entry = recorded(actor, 'second_factor_added', { kind: 'totp' })
      if (step === null || !(await factors.confirmTotp(id, { step, at: now() }, entry)))
        throw appError('second_factor_code_wrong')
    },

    async removeTotp(userId, actor) {
      const entry = recorded(actor, 'second_factor_removed', { kind: 'totp' })
      if (!(await factors.removeTotp(userId, entry))) throw appError('second_factor_missing')
    },

    async removePasskey(userId, id, actor) {
      const removed = await factors.removePasskey(userId, id, (tx, { name }) =>
        recorded(actor, 'second_factor_removed', { kind: 'passkey', id, name })(tx),
      )
      if (!removed) throw appError('passkey_not_found')
    },

    async createRecoveryCodes(userId, actor) {
      const { totp, passkeys } = await state(userId)
      if (!totp && passkeys.length === 0) throw appError('second_factor_missing')
      return replaceRecoveryCodes(userId, recorded(actor, 'recovery_codes_created', {}))
    },

    ensureRecoveryCodes: async (userId) =>
      (await factors.recoveryCodesLeft(userId)) > 0 ? null : replaceRecoveryCodes(userId),

    reset: (account, actor) => resetSecondFactors({ factors, audit, now }, account, actor),
  }
}
