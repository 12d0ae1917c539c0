// Which passwords are refused: the most common ones, also with digits around them, and those that repeat the account's name.
import { appError } from '../errors.ts'
import common from './common-passwords.json' with { type: 'json' }

const COMMON = new Set(common.passwords)

/** Digits and signs before or after a word: the first thing that guessing programs add to a common password. */
const AFFIXES = /^[^\p{L}]+|[^\p{L}]+$/gu

/**
 * Length is checked by the protocol's schema.
 * @param names the account's user name and email address.
 * @throws AppError `password_common`, `password_is_name`.
 */
export function assertUncommonPassword(
  password: string,
  names: readonly (string | null | undefined)[],
): void {
  const folded = password.normalize('NFKC').toLowerCase()
  if (COMMON.has(folded) || COMMON.has(folded.replace(AFFIXES, '')))
    throw appError('password_common')
  if (names.some((name) => name != null && name.normalize('NFKC').toLowerCase() === folded))
    throw appError('password_is_name')
}
