// What a person at a messenger is told of an error: in the language in which they wrote.
import { refusalIn } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { ErrorParams } from '../protocol/error.ts'
import { fillIn } from '../protocol/failures.ts'

/** An error as requests throw it, or as the end of a run stores it (with `content`). */
type Told = ({ message: string } | { content: string }) & {
  reason?: string | undefined
  params?: ErrorParams | undefined
}

/** The text of an error. @param written what the person wrote. */
export const errorInWords = (written: string, error: Told): string =>
  refusalIn(
    textLanguage(written),
    'message' in error ? error.message : error.content,
    error.reason === undefined ? null : { reason: error.reason, params: error.params },
    fillIn,
  )
