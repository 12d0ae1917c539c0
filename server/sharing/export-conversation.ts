// The export of one conversation as a file, in each format, with its audit entry.
import type { RecordAudit } from '../auth/audit-recorder.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ExportFormat } from '../protocol/conversations/export.ts'
import { exportHtml } from './export-html.ts'
import { exportJson } from './export-json.ts'
import { exportMarkdown } from './export-markdown.ts'

/** What an export reads. */
interface ExportDependencies {
  store: Parameters<typeof exportJson>[0] & Parameters<typeof exportHtml>[0]
  receipts: Parameters<typeof exportJson>[1]
  markdown: Parameters<typeof exportHtml>[3]['markdown']
  /** Never rejects: what changes nothing works while nothing can be stored. */
  record: RecordAudit
}

/** Adds the audit entry. @returns the pieces of the file, which are read as they are wanted. */
export async function exportConversation(
  { store, receipts, markdown, record }: ExportDependencies,
  conversation: ConversationRow,
  { format, language }: { format: ExportFormat; language: Parameters<typeof exportMarkdown>[3] },
  actor: Actor,
): Promise<AsyncIterable<string>> {
  await record({
    ...actor,
    action: 'exported',
    details: { id: conversation.id, format, ...actor.details },
  })
  if (format === 'md') return exportMarkdown(store, receipts, conversation, language)
  if (format === 'json') return exportJson(store, receipts, conversation)
  return exportHtml(store, receipts, conversation, { markdown, language })
}
