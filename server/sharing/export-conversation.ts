// The export of one conversation as a file, in each format, with its audit entry.
import type { RecordAudit } from '../auth/audit-recorder.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ExportFormat } from '../protocol/conversations/export.ts'
import type { DocumentLanguage } from './document-texts.ts'
import { exportHtml } from './export-html.ts'
import { exportJson } from './export-json.ts'
import { exportMarkdown } from './export-markdown.ts'
import { type ListedModels, modelNames } from './model-names.ts'

/** What an export reads. */
interface ExportDependencies {
  store: Parameters<typeof exportJson>[0] & Parameters<typeof exportHtml>[0]
  receipts: Parameters<typeof exportJson>[1]
  catalog: ListedModels
  markdown: Parameters<typeof exportHtml>[3]['markdown']
  /** Never rejects: what changes nothing works while nothing can be stored. */
  record: RecordAudit
}

/** Adds the audit entry. @returns the pieces of the file, which are read as they are wanted. */
export async function exportConversation(
  { store, receipts, catalog, markdown, record }: ExportDependencies,
  conversation: ConversationRow,
  { format, language }: { format: ExportFormat; language: DocumentLanguage },
  actor: Actor,
): Promise<AsyncIterable<string>> {
  await record({
    ...actor,
    action: 'exported',
    details: { id: conversation.id, format, ...actor.details },
  })
  if (format === 'json') return exportJson(store, receipts, conversation)
  const nameOf = await modelNames(catalog)
  if (format === 'md') return exportMarkdown(store, receipts, conversation, { language, nameOf })
  return exportHtml(store, receipts, conversation, { markdown, language, nameOf })
}
