// A multipart body that cannot be read is the fault of its sender, wherever in it that is noticed.
import { AppError, appError } from '../errors.ts'

/** The parser's errors carry no code; these are its texts. */
const parserTexts =
  /multipart data|Boundary (?:not found|required)|Malformed content type|^The needle cannot/

/** Hands on what `work` answers; throws `bad_request` where it failed because the body is cut off or has no boundary. */
export async function refusingBroken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // What was met while a file was written comes wrapped.
    const bare = error instanceof AppError ? error.cause : error
    if (!(bare instanceof Error) || !parserTexts.test(bare.message)) throw error
    throw appError('multipart_broken', {}, { cause: bare })
  }
}
