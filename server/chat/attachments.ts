// Validates the attachments of a message: text must be text, and images must match their declared type.
import { type AttachmentInfo, attachmentBytes } from '../db/repositories/attachments.ts'
import { type AppError, appError } from '../errors.ts'
import type { Attachment } from '../protocol/message.ts'

const signatures: Record<string, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')),
  'image/jpeg': (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff,
  'image/gif': (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6)),
  'image/webp': (bytes) =>
    bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
}

/** Control characters that do not occur in text files; tab, line feed, form feed and carriage return do. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const NOT_TEXT = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\ufffd]/

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

const needsVision = (name: string): AppError => appError('attachment_needs_vision', { name })

/** Stored attachments are already validated, but the model may have changed to one that does not accept images. */
export function checkKeptAttachments(kept: readonly AttachmentInfo[], vision: boolean): void {
  const image = vision ? undefined : kept.find(({ kind }) => kind === 'image')
  if (image !== undefined) throw needsVision(image.name)
}

/** @throws AppError `payload_too_large` or `bad_attachment`; the message says what is wrong and what is allowed. */
export function checkAttachments(
  attachments: readonly Attachment[],
  { vision, maxBytes }: { vision: boolean; maxBytes: number },
): void {
  const bytes = attachments.reduce((sum, file) => sum + attachmentBytes(file), 0)
  if (bytes > maxBytes)
    throw appError(
      'attachments_too_large',
      { size: megabytes(bytes), limit: megabytes(maxBytes) },
      { details: { bytes, max_bytes: maxBytes } },
    )
  for (const file of attachments) {
    if ('content' in file) {
      if (NOT_TEXT.test(file.content)) throw appError('attachment_not_text', { name: file.name })
      continue
    }
    if (!vision) throw needsVision(file.name)
    const matchesType = signatures[file.mime]?.(Buffer.from(file.data.slice(0, 64), 'base64'))
    if (!matchesType) throw appError('attachment_not_image', { name: file.name, type: file.mime })
  }
}
