// Receives the body of a multipart request: the only place that reads one, so that every upload ends with its request.
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError, appError } from '../../errors.ts'
import type { UploadParts } from '../../http/idempotency.ts'
import type { UploadSlots } from '../../http/upload-slots.ts'

/** The parser's errors have no code, only these messages. */
const PARSER_ERRORS =
  /multipart data|Boundary (?:not found|required)|Malformed content type|^The needle cannot/

/**
 * Runs `take`. Whatever ends the request also ends its body, so that `take` fails instead of waiting for parts that never come;
 * what it holds, it releases in a `finally`. After a failure the rest of the body is dropped as it arrives, within the limits
 * of `closeUnfinishedBodies`: a client that goes on sending to a closed connection would see a broken connection instead of
 * the reason. The caller holds one of the user's upload slots.
 * @param take receives a function that begins to read the body.
 * @throws AppError when the body is not multipart or broken.
 */
export async function readUpload<T>(
  request: FastifyRequest,
  take: (read: () => UploadParts) => Promise<T>,
): Promise<T> {
  if (!request.isMultipart()) throw appError('upload_not_multipart')
  try {
    return await take(() => {
      // A body that has ended early emits nothing any more: reading it would never end.
      if (request.raw.destroyed) throw appError('multipart_broken')
      return request.recordedParts()
    })
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw rejectionOf(error)
  }
}

/** Runs `take` with the one file of a multipart request, as `readUpload` does. @throws AppError also without a file. */
export const readFile = <T>(
  request: FastifyRequest,
  take: (part: MultipartFile) => Promise<T>,
): Promise<T> =>
  readUpload(request, async (read) => {
    for await (const part of read()) if (part.type === 'file') return await take(part)
    throw appError('file_missing')
  })

/** Runs `take` in one of the user's upload slots, as `readUpload` does. */
export const receiveUpload = <T>(
  request: FastifyRequest,
  uploadSlots: UploadSlots,
  take: (read: () => UploadParts) => Promise<T>,
): Promise<T> => uploadSlots.run(request.user.id, () => readUpload(request, take))

/** Runs `take` with the one file of a multipart request in one of the user's upload slots, as `readFile` does. */
export const receiveFile = <T>(
  request: FastifyRequest,
  uploadSlots: UploadSlots,
  take: (part: MultipartFile) => Promise<T>,
): Promise<T> => uploadSlots.run(request.user.id, () => readFile(request, take))

/** An unreadable body is the client's fault: a 400. */
function rejectionOf(error: unknown): unknown {
  // Errors that occur while a file is written are wrapped.
  const bare = error instanceof AppError ? error.cause : error
  if (!(bare instanceof Error) || !PARSER_ERRORS.test(bare.message)) return error
  return appError('multipart_broken', {}, { cause: bare })
}
