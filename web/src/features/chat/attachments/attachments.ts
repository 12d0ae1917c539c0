// Turns chosen, dropped or pasted files into attachments: images as they are, everything else as text.
import type { z } from 'zod'
import type { Attachment } from '../../../../../server/protocol/message.ts'

export type AttachmentInput = z.input<typeof Attachment>
/** Why a file cannot be attached; the key of a text. */
export type AttachmentProblem = 'tooLarge' | 'notText' | 'noVision'
export type ReadFile =
  | { ok: true; attachment: AttachmentInput }
  | { ok: false; name: string; problem: AttachmentProblem }

const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const
const MAX_IMAGE_BYTES = 5 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024

const base64 = (bytes: Uint8Array): string => {
  let binary = ''
  const step = 0x8000
  for (let at = 0; at < bytes.length; at += step)
    binary += String.fromCharCode(...bytes.subarray(at, at + step))
  return btoa(binary)
}

/** Never throws: files that cannot be attached are returned with their reason. */
export async function readAttachment(file: File, vision: boolean): Promise<ReadFile> {
  const refuse = (problem: AttachmentProblem): ReadFile => ({ ok: false, name: file.name, problem })
  const mime = imageTypes.find((type) => type === file.type)
  const name = file.name.slice(-255) || 'file'
  if (mime !== undefined) {
    if (!vision) return refuse('noVision')
    if (file.size > MAX_IMAGE_BYTES) return refuse('tooLarge')
    const bytes = new Uint8Array(await file.arrayBuffer())
    return { ok: true, attachment: { name, mime, data: base64(bytes) } }
  }
  if (file.size > MAX_TEXT_BYTES) return refuse('tooLarge')
  try {
    const bytes = await file.arrayBuffer()
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (content.includes('\0')) return refuse('notText')
    const extension = name.includes('.') ? (name.split('.').at(-1) ?? '') : ''
    return { ok: true, attachment: { name, extension: extension.slice(0, 50), content } }
  } catch {
    return refuse('notText')
  }
}
