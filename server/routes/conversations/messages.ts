// Routes for messages: read a branch, send, edit, regenerate, delete and restore.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Language } from '../../../locales/languages.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import { longTextBytes } from '../../files/attachment-contents.ts'
import type { App } from '../../http/app.ts'
import { startOnce } from '../../http/idempotency.ts'
import {
  EditMessageBody,
  Message,
  MessagePage,
  RegenerateBody,
  SendMessageBody,
} from '../../protocol/conversations/message.ts'
import { Deleted, envelope, PageQuery } from '../../protocol/envelope.ts'
import { ConversationId, MessageId } from '../../protocol/ids.ts'
import { PAGE_ORIGIN, type RunOrigin } from '../../protocol/runs/origin.ts'
import { Run } from '../../protocol/runs/run.ts'
import type { RunLog } from '../../runs/log/log.ts'
import type { Services } from '../../services.ts'
import { documentLanguage, folderOf } from '../../sharing/document-texts.ts'
import { encodeFileName } from '../../sharing/file-name.ts'
import { presentPage, success } from '../envelope.ts'
import { presentMessage, presentRun, waitsFor, withLongTexts } from '../runs/present-message.ts'
import { createRunStreamer } from '../runs/run-stream.ts'
import { sendLongJson, sendMessage } from './send-long-json.ts'

const DEFAULT_PAGE = 50

const InConversation = z.object({ id: ConversationId })
const OfMessage = InConversation.extend({ mid: MessageId })
const Answered = envelope(z.object({ message: Message, run: Run }).meta({ id: 'CompleteAnswer' }))

const tags = ['messages']
const streams = {
  produces: ['text/event-stream', 'application/json'],
  description:
    'Responds with server-sent events (docs/protocol.md), or, if `stream` is false, with one JSON response at the end.',
}

/** `/api/conversations/:id/messages` and what is below it, and `/regenerate/:mid`. */
export function registerMessageRoutes(
  app: App,
  services: Pick<Services, 'chat' | 'store' | 'database' | 'attachments'>,
): void {
  registerReading(app, services)
  registerRuns(app, services)
  registerMessageDeletion(app, services)
}

/** The shown branch, single messages, and their attachments. */
function registerReading(
  app: App,
  { store, attachments }: Pick<Services, 'store' | 'attachments'>,
): void {
  app.get(
    '/api/conversations/:id/messages',
    {
      schema: {
        summary: 'List the messages of the shown branch, newest page first',
        tags,
        params: InConversation,
        querystring: PageQuery,
        response: { 200: envelope(MessagePage) },
      },
    },
    async ({ user, params, query }, reply) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const page = await store.messages.page(conversation.id, conversation.leafId, {
        limit: query.limit ?? DEFAULT_PAGE,
        cursor: query.cursor,
      })
      const data = {
        ...presentPage(page, presentMessage),
      }
      if (!page.items.some(({ isLong }) => isLong)) return success(data)
      const items = page.items.map((row) => withLongTexts(presentMessage(row), row))
      return sendLongJson(reply, { code: 0, data: { ...data, items } })
    },
  )

  app.get(
    '/api/conversations/:id/messages/:mid',
    {
      schema: {
        summary: 'Get a message of any branch',
        tags,
        params: OfMessage,
        response: { 200: envelope(Message) },
      },
    },
    async ({ user, params }, reply) => {
      const conversation = await store.conversations.get(user.id, params.id)
      return sendMessage(reply, await store.messages.get(conversation.id, params.mid))
    },
  )

  app.get(
    '/api/conversations/:id/messages/:mid/attachments/:position',
    {
      schema: {
        summary: 'Get the content of an attachment (an image or text)',
        tags,
        produces: ['image/*', 'text/plain'],
        params: OfMessage.extend({ position: z.coerce.number().int().min(0).max(1_000) }),
      },
    },
    async ({ user, params }, reply) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const message = await store.messages.find(conversation.id, params.mid)
      const file =
        message === undefined ? undefined : await attachments.find(message.id, params.position)
      if (file === undefined) throw appError('attachment_not_found')
      void reply.headers({
        'content-type': file.kind === 'image' ? file.mime : 'text/plain; charset=utf-8',
        // If the attachment is opened directly, it cannot run scripts or load anything.
        'content-security-policy': "default-src 'none'; sandbox",
        'content-disposition': `inline; filename*=UTF-8''${encodeFileName(file.name)}`,
      })
      return reply.send(Readable.from(longTextBytes(file), { highWaterMark: 1, objectMode: true }))
    },
  )
}

/** Routes that start a run: send, edit, regenerate. */
function registerRuns(app: App, { chat, store }: Pick<Services, 'chat' | 'store'>): void {
  const runs = { chat, store, streamTo: createRunStreamer({ chat, store }) }

  app.post(
    '/api/conversations/:id/messages',
    {
      config: { stream: true, joinsRun: true },
      schema: {
        summary: 'Send a message',
        tags,
        ...streams,
        params: InConversation,
        body: SendMessageBody,
        response: { 200: Answered },
      },
    },
    async (request, reply) => {
      const { user, params, body } = request
      const start = () => chat.send(user.id, params.id, { ...body, ...senderOf(request) })
      return respond(runs, reply, body, await startOnce(request, store.runs, start))
    },
  )

  app.patch(
    '/api/conversations/:id/messages/:mid',
    {
      config: { stream: true },
      schema: {
        summary: 'Edit a user message; starts a new branch and responds like a send',
        tags,
        ...streams,
        params: OfMessage,
        body: EditMessageBody,
        response: { 200: Answered },
      },
    },
    async (request, reply) => {
      const { user, params, body } = request
      const sent = { ...body, ...senderOf(request) }
      const run = await chat.edit(user.id, params.id, params.mid, sent)
      return respond(runs, reply, body, run)
    },
  )

  app.post(
    '/api/conversations/:id/regenerate/:mid',
    {
      config: { stream: true, joinsRun: true },
      schema: {
        summary: 'Regenerate an answer as a sibling of the old one',
        tags,
        ...streams,
        params: OfMessage,
        body: RegenerateBody.nullish(),
        response: { 200: Answered },
      },
    },
    async (request, reply) => {
      const { user, params } = request
      const options = request.body ?? {}
      const start = () =>
        chat.regenerate(user.id, params.id, params.mid, {
          ...RegenerateBody.parse(options),
          ...senderOf(request),
        })
      return respond(runs, reply, options, await startOnce(request, store.runs, start))
    },
  )
}

/** A program sends with an API key, a person at the page without: in the language of the page. */
const senderOf = ({
  apiKey,
  headers,
}: Pick<FastifyRequest, 'apiKey' | 'headers'>): { origin: RunOrigin; language?: Language } =>
  apiKey === null
    ? { origin: PAGE_ORIGIN, language: folderOf(documentLanguage(headers['accept-language'])) }
    : { origin: { type: 'api' } }

/** Responds with the stream of the run. Without `stream`, responds once the run has ended or waits for a person. */
async function respond(
  {
    chat,
    store,
    streamTo,
  }: Pick<Services, 'chat' | 'store'> & {
    streamTo: ReturnType<typeof createRunStreamer>
  },
  reply: FastifyReply,
  options: { stream?: boolean | undefined; stream_mode?: 'cumulative' | 'delta' | undefined },
  run: RunRow,
) {
  if (options.stream !== false) {
    await streamTo(reply, run, { mode: options.stream_mode ?? 'cumulative', afterId: 0 })
    return reply
  }
  const runLog = await chat.runs.runLog(run)
  if (runLog !== null) await untilSettled(runLog, reply)
  const [message, endedRun, pending] = await Promise.all([
    store.messages.get(run.conversationId, run.messageId),
    store.runs.find(run.id),
    waitsFor(store, run),
  ])
  const data = {
    message: presentMessage(message),
    run: presentRun(endedRun ?? run, pending),
  }
  if (!message.isLong) return success(data)
  return sendLongJson(reply, {
    code: 0,
    data: { ...data, message: withLongTexts(data.message, message) },
  })
}

/**
 * Waits until the run has ended or waits for a person: the person cannot decide on a request before this response shows it.
 * Listens to the run meanwhile, so that a disconnecting client counts as a listener that left.
 */
function untilSettled(runLog: RunLog, reply: FastifyReply): Promise<void> {
  const isSettled = (): boolean => runLog.terminal !== null || runLog.isWaiting
  if (isSettled()) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      unsubscribe()
      resolve()
    }
    const unsubscribe = runLog.subscribe({
      onEntries() {
        if (isSettled()) finish()
      },
      onClose: finish,
    })
    reply.raw.on('close', finish)
    // The client may have disconnected before this listener was added.
    if (reply.raw.destroyed) finish()
  })
}

// Routes for deleting messages and restoring them.

/** Deletes a message with everything below it, and restores it. */
function registerMessageDeletion(
  app: App,
  { chat, store, database }: Pick<Services, 'chat' | 'store' | 'database'>,
): void {
  app.get(
    '/api/conversations/:id/messages/:mid/deletion',
    {
      schema: {
        summary:
          'Count the messages that deleting this one would delete, including other branches below it',
        tags,
        params: OfMessage,
        response: {
          200: envelope(
            z.object({
              messages: z.int().describe('The number of messages that would be deleted.'),
            }),
          ),
        },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const { id } = await store.messages.get(conversation.id, params.mid)
      return success({ messages: await store.messages.subtreeSize(conversation.id, id) })
    },
  )

  app.delete(
    '/api/conversations/:id/messages/:mid',
    {
      schema: {
        summary: 'Delete a message and everything below it; it can be restored for a day',
        tags,
        params: OfMessage,
        response: {
          200: Deleted.extend({
            deleted_messages: z.int().describe('The number of deleted messages.'),
          }),
        },
      },
    },
    async ({ user, params }) => {
      const deleted = await chat.removeMessage(user.id, params.id, params.mid)
      return { code: 0 as const, message: 'deleted', deleted_messages: deleted }
    },
  )

  app.post(
    '/api/conversations/:id/messages/:mid/restore',
    {
      schema: {
        summary: 'Restore a deleted message and everything deleted with it',
        tags,
        params: OfMessage,
        response: {
          200: envelope(
            z.object({ restored_messages: z.int().describe('The number of restored messages.') }),
          ),
        },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const restored = await database.write((tx) =>
        store.messages.restoreSubtree(tx, conversation.id, params.mid),
      )
      if (restored === 0) throw appError('nothing_to_undelete')
      return success({ restored_messages: restored })
    },
  )
}
