// The text that each entry of the search index stands for, as SQL over its message, step and attachment.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import {
  filePartNumberOf,
  filePositionOf,
  kindOf,
  partNumberOf,
  partOf,
  positionOf,
  SEARCH_KINDS,
  type SearchKind,
} from '../../search-entries.ts'
import type { Tables } from '../../tables.ts'
import { attachmentText } from '../conversations/attachments.ts'

/** The name of an attachment and its text, as they are indexed; join `files` on the left. */
export const fileTextOf = (tables: Tables): SQL =>
  sql`(${tables.attachments.name} || ${'\n'} || ${attachmentText(tables)})`

/** Whether an entry is of one of the kinds. */
export const isKindOf = ({ searchWords }: Tables, ...kinds: SearchKind[]): SQL =>
  sql`${kindOf(sql`${searchWords.rowid}`)} in ${kinds.map((kind) => SEARCH_KINDS.indexOf(kind))}`

/** The text of an entry, as it was indexed but for the escapes of JSON, and the conditions that join what it is in. */
export function entryTextOf(tables: Tables) {
  const { searchWords, messages, steps, attachments } = tables
  const rowid = sql`${searchWords.rowid}`
  const isKind = (...kinds: SearchKind[]): SQL => isKindOf(tables, ...kinds)
  return {
    text: partOf(
      sql`(case when ${isKind('text')} then ${messages.text}
        when ${isKind('file')} then ${fileTextOf(tables)}
        when ${isKind('tool')} then coalesce(${steps.name}, '') || ' ' || ${steps.content}
        else ${steps.content} end)`,
      sql`(case when ${isKind('file')} then ${filePartNumberOf(rowid)} else ${partNumberOf(rowid)} end)`,
    ),
    ofStep: and(
      isKind('step', 'tool'),
      eq(steps.messageId, messages.id),
      sql`${steps.position} = ${positionOf(rowid)}`,
    ),
    ofAttachment: and(
      isKind('file'),
      eq(attachments.messageId, messages.id),
      sql`${attachments.position} = ${filePositionOf(rowid)}`,
    ),
  }
}
