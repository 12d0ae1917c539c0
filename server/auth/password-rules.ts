// Refuses the most common passwords, also with digits around them, and those that repeat the account's name.
import { appError } from '../errors.ts'
import common from './common-passwords.json' with { type: 'json' }

const COMMON = new Set(common.passwords)

/** Digits and signs before or after a word, which guessing programs add to common passwords first. */
const AFFIXES = /^[^\p{L}]+|[^\p{L}]+$/gu

/**
 * The protocol's schema checks the length.
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
