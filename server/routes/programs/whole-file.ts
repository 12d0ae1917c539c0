// Reads a file of a form into memory, for services that take it whole. The limits of the form bound it.
import type { MultipartFile } from '@fastify/multipart'
import { appError } from '../../errors.ts'
import { MAX_RECORDING_BYTES } from '../../protocol/speech.ts'

/** @throws AppError `recording_too_large` if the file has been cut. */
export async function wholeFile({ file }: MultipartFile): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of file) pieces.push(piece)
  if (file.truncated) throw appError('recording_too_large', { limit: MAX_RECORDING_BYTES / 1e6 })
  return Buffer.concat(pieces)
}
