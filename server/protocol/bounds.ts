// Numbers from outside that reach the database: how large they may be.
import { z } from 'zod'

/** What both databases hold in an integer column. */
export const MAX_INTEGER = 2_147_483_647

/** More tokens than any model reads or writes at once; what claims more is a mistake. */
export const MAX_TOKENS = 10_000_000

/** Tokens that somebody asks for. */
export const TokenCount = z
  .int()
  .min(1)
  .max(MAX_TOKENS, { error: `expected an integer from 1 to ${MAX_TOKENS}` })
