// Which passwords are refused: the most common ones, and those that repeat the account's name.
import { appError } from '../errors.ts'
import common from './common-passwords.json' with { type: 'json' }

const COMMON = new Set(common.passwords)

/**
 * Length is checked by the protocol's schema.
 * @param names the account's user name and e-mail address.
 * @throws AppError `password_common`, `password_is_name`.
 */
export function assertUncommonPassword(
  password: string,
  names: readonly (string | null | undefined)[],
): void {
  const folded = password.normalize('NFKC').toLowerCase()
  if (COMMON.has(folded)) throw appError('password_common')
  if (names.some((name) => name != null && name.normalize('NFKC').toLowerCase() === folded))
    throw appError('password_is_name')
}
