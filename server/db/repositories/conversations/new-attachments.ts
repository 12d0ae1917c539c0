// The rows of new attachments.
import type { Attachment } from '../../../protocol/conversations/message.ts'
import type { MessageId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import type { FileRow } from '../projects/files.ts'

type AttachmentRow = Database['tables']['attachments']['$inferSelect']

/** A new attachment: inside the message, or as a file. */
export type StoredOrInline = Attachment | StoredAttachmentFile

/** A file as an attachment; without an `extension` (null: none), that of its name. */
export type StoredAttachmentFile = FileRow & { extension?: string | null }

/** Bytes of the file that an inline attachment contains. */
export const attachmentBytes = (file: Attachment): number =>
  'data' in file ? Buffer.byteLength(file.data, 'base64') : Buffer.byteLength(file.content)

/** An attachment as stored at its position in a message. */
export function toAttachmentRow(
  messageId: MessageId,
  position: number,
  file: StoredOrInline,
): AttachmentRow {
  const { name } = file
  if ('sha256' in file) {
    const { id: fileId, kind, mime, size } = file
    const given = file.extension === undefined ? extensionOf(name) : file.extension
    const extension = kind === 'image' ? null : given
    return {
      messageId,
      position,
      name,
      size,
      fileId,
      kind,
      extension,
      mime,
      content: '',
      searchFrom: null,
      documentId: null,
    }
  }
  const common = {
    messageId,
    position,
    name,
    size: attachmentBytes(file),
    fileId: null,
    searchFrom: null,
    documentId: null,
  }
  return 'data' in file
    ? { ...common, kind: 'image', extension: null, mime: file.mime, content: file.data }
    : {
        ...common,
        kind: 'text',
        extension: file.extension ?? null,
        mime: null,
        content: file.content,
      }
}

/** The extension of a file name, without the dot; null if it has none. */
const extensionOf = (name: string): string | null =>
  /\.([^.\s]{1,50})$/.exec(name)?.[1]?.toLowerCase() ?? null
