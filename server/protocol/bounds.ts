// Bounds of numbers from outside that reach the database.
import { z } from 'zod'

/** The largest integer that both databases can store in an integer column. */
export const MAX_INTEGER = 2_147_483_647

/** More tokens than any model reads or writes at once; larger values are mistakes. */
export const MAX_TOKENS = 10_000_000

/** A requested number of tokens. */
export const TokenCount = z
  .int()
  .min(1)
  .max(MAX_TOKENS, { error: `expected an integer from 1 to ${MAX_TOKENS}` })
