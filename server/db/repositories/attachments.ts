// Attachments between the wire's form and their rows.
import type { MessageId } from '../../protocol/ids.ts'
import type { Attachment } from '../../protocol/message.ts'
import type { Database } from '../database.ts'

type AttachmentRow = Database['tables']['attachments']['$inferSelect']

/** A stored attachment as everybody sees it. */
export function toAttachment(row: AttachmentRow): Attachment {
  const { name, content } = row
  if (row.kind === 'text') return { name, extension: row.extension ?? undefined, content }
  // Checked against the list of image types when it came in.
  return { name, mime: row.mime as 'image/png', data: content }
}

/** An attachment as it is stored at its place of a message. */
export const toAttachmentRow = (
  messageId: MessageId,
  position: number,
  file: Attachment,
): AttachmentRow =>
  'data' in file
    ? {
        messageId,
        position,
        kind: 'image',
        name: file.name,
        extension: null,
        mime: file.mime,
        content: file.data,
      }
    : {
        messageId,
        position,
        kind: 'text',
        name: file.name,
        extension: file.extension ?? null,
        mime: null,
        content: file.content,
      }
