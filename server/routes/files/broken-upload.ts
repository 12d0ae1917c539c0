// Turns errors of the multipart parser into a 400 response: an unreadable body is the client's fault.
import { AppError, appError } from '../../errors.ts'

/** The parser's errors have no code, only these messages. */
const PARSER_ERRORS =
  /multipart data|Boundary (?:not found|required)|Malformed content type|^The needle cannot/

/** Runs `work`. @throws AppError `bad_request` when the multipart body is truncated or malformed. */
export async function rejectBrokenUpload<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Errors that occur while a file is written are wrapped.
    const bare = error instanceof AppError ? error.cause : error
    if (!(bare instanceof Error) || !PARSER_ERRORS.test(bare.message)) throw error
    throw appError('multipart_broken', {}, { cause: bare })
  }
}
