// The files of a turn that has some: checked (text must be text, images must match their declared type), then stored.

import type { AttachmentInfo } from '../../db/repositories/conversations/attachments.ts'
import { attachmentBytes } from '../../db/repositories/conversations/new-attachments.ts'
import type { FileRow } from '../../db/repositories/projects/files.ts'
import { type AppError, appError } from '../../errors.ts'
import { isAttachable } from '../../lib/attachable-text.ts'
import type { Attachment, NewAttachment } from '../../protocol/conversations/message.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies, MessageFiles } from '../../runs/dependencies.ts'
import type { ProgramTurn } from '../program-turn.ts'
import type { Turn, TurnFiles } from './store-turn.ts'

const IMAGE_SIGNATURES: Record<string, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')),
  'image/jpeg': (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff,
  'image/gif': (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6)),
  'image/webp': (bytes) =>
    bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

const needsVision = (name: string): AppError => appError('attachment_needs_vision', { name })

/** Where the files of a turn go, and what they are checked against. */
interface Place extends Pick<ChatDependencies, 'settings'> {
  files: Pick<MessageFiles, 'findAll' | 'addInline' | 'remove'>
  userId: UserId
  /** Whether the model accepts images. */
  vision: boolean
}

/** What may have files: the question of a person, or the messages of a program. */
export type TurnWithFiles = Exclude<Turn, { kind: 'answer' }>

/**
 * Checks the attachments of a turn, and stores the files that are new.
 * @throws AppError that says what is wrong and what is allowed; then none of the files is stored.
 */
export async function filesOf(turn: TurnWithFiles, place: Place): Promise<TurnFiles> {
  if (turn.kind === 'program') return await filesOfProgram(turn, place)
  const { attachments } = turn
  if ('of' in attachments) {
    checkStoredAttachments(attachments.stored, place.vision)
    return { attached: attachments, holdOutsideText: false, discard: async () => {} }
  }
  return await storeNew(attachments, place)
}

async function filesOfProgram({ past, question }: ProgramTurn, place: Place): Promise<TurnFiles> {
  const ofMessages: (readonly FileRow[])[] = []
  const stored: TurnFiles[] = []
  const discard = async () => {
    for (const files of stored) await files.discard()
  }
  try {
    for (const message of [...past, ...(question === null ? [] : [question])]) {
      const given = 'attachments' in message ? message.attachments : []
      const files = given.length === 0 ? null : await storeNew(given, place)
      if (files !== null) stored.push(files)
      ofMessages.push(files?.attached ?? [])
    }
  } catch (error) {
    await discard()
    throw error
  }
  const holdOutsideText = stored.some((files) => files.holdOutsideText)
  return { attached: [], ofMessages, holdOutsideText, discard }
}

async function storeNew(
  attachments: readonly NewAttachment[],
  place: Place,
): Promise<TurnFiles & { attached: readonly FileRow[] }> {
  const checked = await checkAttachments(attachments, place)
  const { rows, discard } = await storeAttachments(checked, place)
  // Anybody may have made a file, and a picture can hold text, too.
  return { attached: rows, holdOutsideText: checked.length > 0, discard }
}

/** Stored attachments are already validated, but the conversation's model may have changed to one without vision. */
function checkStoredAttachments(stored: readonly AttachmentInfo[], vision: boolean): void {
  const image = vision ? undefined : stored.find(({ kind }) => kind === 'image')
  if (image !== undefined) throw needsVision(image.name)
}

/** A checked attachment that is not stored with a message yet: an uploaded file, or content sent inside the message. */
type CheckedAttachment = FileRow | Attachment

/**
 * Finds the files of the attachments and checks all of them.
 * @throws AppError `payload_too_large`, `bad_attachment` or `not_found`; the message says what is wrong and what is allowed.
 */
async function checkAttachments(
  attachments: readonly NewAttachment[],
  { files, userId, vision, settings: { attachmentBytes: maxBytes } }: Place,
): Promise<CheckedAttachment[]> {
  const ids = attachments.flatMap((file) => ('file_id' in file ? [file.file_id] : []))
  const rows = new Map((await files.findAll(userId, ids)).map((row) => [row.id, row]))
  const checked = attachments.map((file): CheckedAttachment => {
    if (!('file_id' in file)) return file
    const row = rows.get(file.file_id)
    if (row === undefined) throw appError('file_id_unknown')
    return row
  })
  const bytes = checked.reduce(
    (sum, file) => sum + ('sha256' in file ? file.size : attachmentBytes(file)),
    0,
  )
  if (bytes > maxBytes)
    throw appError(
      'attachments_too_large',
      { size: megabytes(bytes), limit: megabytes(maxBytes) },
      { details: { bytes, max_bytes: maxBytes } },
    )
  for (const file of checked) checkOne(file, vision)
  return checked
}

function checkOne(file: CheckedAttachment, vision: boolean): void {
  if ('content' in file) {
    if (!isAttachable(file.content)) throw appError('attachment_not_text', { name: file.name })
    return
  }
  const isImage = 'data' in file || file.kind === 'image'
  if (isImage && !vision) throw needsVision(file.name)
  if (!('data' in file)) return
  const matchesType = IMAGE_SIGNATURES[file.mime]?.(Buffer.from(file.data.slice(0, 64), 'base64'))
  if (!matchesType) throw appError('attachment_not_image', { name: file.name, type: file.mime })
}

/**
 * Stores content that was sent inside a message as files. `discard` removes these files if the message is not stored.
 * @throws AppError `quota_claim_refused`; then none of the files is stored.
 */
async function storeAttachments(
  checked: readonly CheckedAttachment[],
  { files, userId }: Place,
): Promise<{ rows: FileRow[]; discard(): Promise<void> }> {
  const added: FileRow[] = []
  const discard = async (): Promise<void> => {
    for (const { id } of added) await files.remove(userId, id)
  }
  const rows: FileRow[] = []
  try {
    for (const file of checked) {
      const row = 'sha256' in file ? file : await files.addInline(userId, file)
      if (!('sha256' in file)) added.push(row)
      rows.push(row)
    }
  } catch (error) {
    await discard()
    throw error
  }
  return { rows, discard }
}
