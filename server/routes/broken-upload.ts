// A multipart body that cannot be read is the sender's fault, wherever the parser notices it.
import { AppError, appError } from '../errors.ts'

/** The parser's errors carry no code, only these texts. */
const parserTexts =
  /multipart data|Boundary (?:not found|required)|Malformed content type|^The needle cannot/

/** Returns what `work` returns; throws `bad_request` when it failed because the body is cut off or has no boundary. */
export async function refusingBroken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Errors while a file is written come wrapped.
    const bare = error instanceof AppError ? error.cause : error
    if (!(bare instanceof Error) || !parserTexts.test(bare.message)) throw error
    throw appError('multipart_broken', {}, { cause: bare })
  }
}
