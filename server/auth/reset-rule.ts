// Decides for which accounts a password reset link may be created.
import { appError } from '../errors.ts'

/**
 * Stored instead of a hash for accounts that only sign in at an issuer. No password matches it. Unlike a hash, it also
 * distinguishes such accounts from those whose password is merely unknown.
 */
export const NO_PASSWORD = '!'

/**
 * @param options.allowsPassword whether this account may sign in with a password.
 * @param options.addsPassword whether to permit a first password for an account that has none.
 * @throws AppError `password_sign_in_off` if the link would not work, `account_without_password` if it would bypass the
 * issuer.
 */
export function assertMayReset(
  { username, passwordHash }: { username: string; passwordHash: string | null },
  {
    allowsPassword,
    addsPassword,
  }: { allowsPassword(username: string): boolean; addsPassword: boolean },
): void {
  if (!allowsPassword(username)) throw appError('password_sign_in_off')
  if (passwordHash === NO_PASSWORD && !addsPassword)
    throw appError('account_without_password', { name: username })
}
