// Receives the one file of a multipart request.
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { appError } from '../../errors.ts'
import { rejectBrokenUpload } from './broken-upload.ts'
import type { UploadSlots } from './upload-slots.ts'

/**
 * Runs `take` with the file, in one of the user's upload slots. After a failure the connection closes, because the rest of
 * the body is not read.
 * @throws AppError when the body is not multipart, broken or without a file.
 */
export async function receiveFile<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  uploadSlots: UploadSlots,
  take: (part: MultipartFile) => Promise<T>,
): Promise<T> {
  return await rejectBrokenUpload(() =>
    uploadSlots.run(request.user.id, async () => {
      if (!request.isMultipart()) throw appError('upload_not_multipart')
      try {
        const part = await request.file()
        if (part === undefined) throw appError('file_missing')
        return await take(part)
      } catch (error) {
        void reply.header('connection', 'close')
        throw error
      }
    }),
  )
}
