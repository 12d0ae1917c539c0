// Routes that export and import one conversation.
import { Readable } from 'node:stream'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { AttachmentReader } from '../../files/attachment-contents.ts'
import type { App } from '../../http/app.ts'
import {
  ExportedConversation,
  ExportFormat,
  Imported,
} from '../../protocol/conversations/export.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId } from '../../protocol/ids.ts'
import { documentLanguage } from '../../sharing/document-texts.ts'
import { exportHtml } from '../../sharing/export-html.ts'
import { exportJson } from '../../sharing/export-json.ts'
import { exportMarkdown } from '../../sharing/export-markdown.ts'
import { attachmentHeader, fileNameOf } from '../../sharing/file-name.ts'
import { type ImportDependencies, importJson } from '../../sharing/import-json.ts'
import type { MarkdownRenderer } from '../../sharing/markdown.ts'
import { success } from '../envelope.ts'

const CONTENT_TYPES = {
  md: 'text/markdown; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const

/** The dependencies of the routes that export and import single conversations. */
export type ExportRouteDependencies = ImportDependencies & {
  attachments: AttachmentReader
  markdown: MarkdownRenderer
  /** Called after an import, which stores attachments inside their messages. */
  moveAttachments(): void
}

/** `/api/conversations/:id/export` and `/api/conversations/import`. */
export function registerExportRoutes(app: App, dependencies: ExportRouteDependencies): void {
  const { markdown, attachments, moveAttachments } = dependencies
  const store = { ...dependencies.store, attachments }
  const tags = ['sharing']

  app.get(
    '/api/conversations/:id/export',
    {
      config: { audit: { action: 'exported' } },
      schema: {
        summary: 'Export a conversation as a file',
        description:
          '`md` and `html` contain the shown branch. `json` contains all branches, steps and attachments, and can be imported. The headings of `md` and `html` follow `Accept-Language` (one of the nine languages of the page, otherwise English).',
        tags,
        produces: Object.values(CONTENT_TYPES),
        params: z.object({ id: ConversationId }),
        querystring: z.object({
          format: ExportFormat.default('md').describe(
            '`md` and `html`: the branch that is shown; `json`: the whole conversation, for an import.',
          ),
        }),
      },
    },
    async (request, reply) => {
      const { user, params, headers } = request
      const { format } = request.query
      const conversation = await store.conversations.find(user.id, params.id)
      if (conversation === undefined) throw appError('conversation_not_found')
      request.audited = { format }
      const language = documentLanguage(headers['accept-language'])
      void reply.headers({
        ...(format === 'json' ? {} : { 'content-language': language, vary: 'accept-language' }),
        'content-type': CONTENT_TYPES[format],
        'content-disposition': attachmentHeader(fileNameOf(conversation.title, format)),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      const pieces = {
        md: () => exportMarkdown(store, conversation, language),
        json: () => exportJson(store, conversation),
        html: () => exportHtml(store, conversation, { markdown, language }),
      }[format]()
      return reply.send(Readable.from(pieces, { highWaterMark: 1, objectMode: true }))
    },
  )

  app.post(
    '/api/conversations/import',
    {
      // Artifacts of tools and long conversations contain long lists.
      config: { longArrays: true },
      schema: {
        summary:
          'Import a conversation from its JSON export; its text is marked as text from outside',
        tags,
        body: ExportedConversation,
        response: { 200: envelope(Imported) },
      },
    },
    async ({ user, body }) => {
      const imported = await importJson(dependencies, user.id, body)
      moveAttachments()
      return success(imported)
    },
  )
}
