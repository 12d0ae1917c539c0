// Second factors of accounts: when a sign-in needs one, setting them up, and removing them.
import { z } from 'zod'
import type { AuditRepository } from '../../db/repositories/accounts/audit.ts'
import type {
  PasskeyRow,
  SecondFactorRepository,
} from '../../db/repositories/accounts/second-factors.ts'
import type { UserRepository, UserRow } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import type { Limits } from '../../lib/limits.ts'
import type { SecondFactorDetails } from '../../protocol/accounts/second-factor.ts'
import type { Actor } from '../../protocol/admin/audit.ts'
import { UserId } from '../../protocol/ids.ts'
import { openIfReadable, type SecretBox } from '../secret-box.ts'
import { hashRecoveryCode, newRecoveryCodes, newTotpSecret, stepOfCode, totpUri } from './codes.ts'

/** Authenticator apps, recovery codes, and when they are needed. */
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
  confirmTotp(user: UserRow, code: string): Promise<void>
  /** @throws AppError `second_factor_missing`. */
  removeTotp(userId: UserId): Promise<void>
  /** @throws AppError `passkey_not_found`. */
  removePasskey(userId: UserId, id: string): Promise<void>
  /** Replaces all recovery codes. */
  createRecoveryCodes(userId: UserId): Promise<string[]>
  /** Creates recovery codes if there are none; otherwise returns null. Call it when a factor was added. */
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
export function createSecondFactors({
  factors,
  audit,
  users,
  box,
  limits,
  now,
}: SecondFactorDependencies): SecondFactors {
  const attempts = limits.rateLimit('second factors', ATTEMPTS)

  async function createRecoveryCodes(userId: UserId): Promise<string[]> {
    const codes = newRecoveryCodes()
    await factors.replaceRecoveryCodes(userId, codes.map(hashRecoveryCode))
    return codes
  }

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
      const retryAfter = await attempts.take(id)
      if (retryAfter !== null) throw appError('sign_ins_exhausted', {}, { retryAfter })
    },

    async acceptCode({ id }, code) {
      const totp = await factors.totp(id)
      const sealed = totp?.confirmedAt == null ? null : totp.sealedSecret
      const secret = sealed === null ? null : openIfReadable(box, sealed, totpPurpose(id))
      if (secret !== null) {
        const step = stepOfCode(secret, code, now())
        if (step !== null && (await factors.takeStep(id, step))) return 'totp'
      }
      if (await factors.takeRecoveryCode(id, hashRecoveryCode(code))) return 'recovery_code'
      // Nobody can know whether the code is right; a recovery code still gets its owner in.
      if (sealed !== null && secret === null) throw appError('second_factor_unreadable')
      throw appError('second_factor_code_wrong')
    },

    async state(userId) {
      const [totp, passkeys, recoveryCodes] = await Promise.all([
        factors.totp(userId),
        factors.passkeysOf(userId),
        factors.recoveryCodesLeft(userId),
      ])
      return { totp: totp !== undefined && totp.confirmedAt !== null, passkeys, recoveryCodes }
    },

    async beginTotp({ id, username }) {
      const secret = newTotpSecret()
      if (!(await factors.beginTotp(id, box.seal(secret, totpPurpose(id)))))
        throw appError('second_factor_set')
      return { secret, uri: totpUri(secret, username, ISSUER_NAME) }
    },

    async confirmTotp({ id }, code) {
      const totp = await factors.totp(id)
      if (totp === undefined || totp.confirmedAt !== null) throw appError('second_factor_missing')
      const step = stepOfCode(box.open(totp.sealedSecret, totpPurpose(id)), code, now())
      if (step === null || !(await factors.takeStep(id, step, now())))
        throw appError('second_factor_code_wrong')
    },

    async removeTotp(userId) {
      if (!(await factors.removeTotp(userId))) throw appError('second_factor_missing')
    },

    async removePasskey(userId, id) {
      if (!(await factors.removePasskey(userId, id))) throw appError('passkey_not_found')
    },

    createRecoveryCodes,

    ensureRecoveryCodes: async (userId) =>
      (await factors.recoveryCodesLeft(userId)) > 0 ? null : createRecoveryCodes(userId),

    reset: (account, actor) => resetSecondFactors({ factors, audit, now }, account, actor),
  }
}
