// Routes that export and import one conversation.

import { Readable } from 'node:stream'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { createTurns } from '../../lib/turns.ts'
import {
  ExportedConversation,
  ExportedMessage,
  ExportFormat,
  Imported,
  MAX_MESSAGES,
} from '../../protocol/conversations/export.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { documentLanguage } from '../../sharing/document-texts.ts'
import { exportConversation } from '../../sharing/export-conversation.ts'
import { attachmentHeader, fileNameOf } from '../../sharing/file-name.ts'
import { importJson } from '../../sharing/import-json.ts'
import { success } from '../envelope.ts'

const CONTENT_TYPES = {
  md: 'text/markdown; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const

const Shell = ExportedConversation.extend({ messages: z.array(z.unknown()).max(MAX_MESSAGES) })

/**
 * Checks a body as `ExportedConversation`, message by message in short turns of the event loop, and replaces each part by
 * what its schema makes of it. Rejects as Fastify's validation does.
 */
async function validateInTurns(body: unknown): Promise<void> {
  const shell = Shell.safeParse(body)
  if (!shell.success) throw faultOf(Shell, body)
  const turn = createTurns()
  const messages: unknown[] = []
  for (const [at, message] of shell.data.messages.entries()) {
    await turn()
    const checked = ExportedMessage.safeParse(message)
    // Its error names the place in the whole body.
    if (!checked.success)
      throw faultOf(z.object({ messages: z.record(z.string(), ExportedMessage) }), {
        messages: { [at]: message },
      })
    messages.push(checked.data)
  }
  Object.assign(Object(body), shell.data, { messages })
}

/** The error that Fastify would throw for a body of another form. */
function faultOf(schema: z.ZodType, value: unknown): Error {
  const result = validatorCompiler({ schema, method: '', url: '' })(value)
  const validation = typeof result === 'object' && 'error' in result ? result.error : []
  return Object.assign(new Error('The body is invalid'), { validation, validationContext: 'body' })
}

/** `/api/conversations/:id/export` and `/api/conversations/import`. */
export function registerExportRoutes(
  app: App,
  services: Pick<
    Services,
    | 'database'
    | 'store'
    | 'files'
    | 'workspace'
    | 'catalog'
    | 'offeredModels'
    | 'attachments'
    | 'markdown'
    | 'record'
    | 'receipts'
  >,
): void {
  const { markdown, attachments, catalog, database, files, offeredModels, receipts, record } =
    services
  const { storage } = services.workspace.workspaces
  const target = {
    database,
    store: services.store,
    files,
    storage,
    hasModel: offeredModels.exists,
  }
  const store = { ...services.store, attachments }
  const tags = ['sharing']

  app.get(
    '/api/conversations/:id/export',
    {
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
      const language = documentLanguage(headers['accept-language'])
      void reply.headers({
        ...(format === 'json' ? {} : { 'content-language': language, vary: 'accept-language' }),
        'content-type': CONTENT_TYPES[format],
        'content-disposition': attachmentHeader(fileNameOf(conversation.title, format)),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      const pieces = await exportConversation(
        { store, receipts, catalog, markdown, record },
        conversation,
        { format, language },
        actorOf(request),
      )
      return reply.send(Readable.from(pieces, { highWaterMark: 1, objectMode: true }))
    },
  )

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    // `validateInTurns` checks the body.
    scope.setValidatorCompiler(() => (value) => ({ value }))
    scope.post(
      '/api/conversations/import',
      {
        // Artifacts of tools and long conversations contain long lists.
        config: { longArrays: true },
        preValidation: ({ body }) => validateInTurns(body),
        schema: {
          summary:
            'Import a conversation from its JSON export; its text is marked as text from outside',
          tags,
          body: ExportedConversation,
          response: { 200: envelope(Imported) },
        },
      },
      async ({ user, body }) => success(await importJson(target, user.id, body)),
    )
  })
}
