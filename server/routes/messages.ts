// A conversation's messages: the pages of a branch, and everything that begins a run.
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { ChatService } from '../chat/chat-service.ts'
import type { Database } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { Store } from '../db/store.ts'
import type { App } from '../plugins/app.ts'
import { Deleted, envelope, PageQuery } from '../protocol/envelope.ts'
import { ConversationId, MessageId } from '../protocol/ids.ts'
import {
  EditMessageBody,
  Message,
  MessagePage,
  RegenerateBody,
  SendMessageBody,
} from '../protocol/message.ts'
import { Run } from '../protocol/run.ts'
import { presentMessage, presentRun } from './present-message.ts'
import { streamRun } from './run-stream.ts'

const DEFAULT_PAGE = 50

const InConversation = z.object({ id: ConversationId })
const OfMessage = InConversation.extend({ mid: MessageId })
const Answered = envelope(z.object({ message: Message, run: Run }))

export interface MessageRouteDependencies {
  chat: ChatService
  store: Store
  database: Database
}

export function registerMessageRoutes(
  app: App,
  { chat, store, database }: MessageRouteDependencies,
): void {
  const tags = ['messages']
  const streams = {
    produces: ['text/event-stream', 'application/json'],
    description:
      'Answers with server-sent events (docs/protocol.md), or with one JSON answer at the end when `stream` is false.',
  }

  app.get(
    '/api/conversations/:id/messages',
    {
      schema: {
        summary: 'The shown branch, newest page first',
        tags,
        params: InConversation,
        querystring: PageQuery,
        response: { 200: envelope(MessagePage) },
      },
    },
    async ({ user, params, query }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const page = await store.messages.page(conversation.id, conversation.leafId, {
        limit: query.limit ?? DEFAULT_PAGE,
        cursor: query.cursor,
      })
      return {
        code: 0 as const,
        data: {
          items: page.items.map(presentMessage),
          next_cursor: page.nextCursor,
          has_more: page.hasMore,
        },
      }
    },
  )

  app.post(
    '/api/conversations/:id/messages',
    {
      schema: {
        summary: 'Send a message',
        tags,
        ...streams,
        params: InConversation,
        body: SendMessageBody,
        response: { 200: Answered },
      },
    },
    async ({ user, params, body }, reply) =>
      answer(reply, body, await chat.send(user.id, params.id, body)),
  )

  app.patch(
    '/api/conversations/:id/messages/:mid',
    {
      schema: {
        summary: 'Edit a message: a new branch, answered like a send',
        tags,
        ...streams,
        params: OfMessage,
        body: EditMessageBody,
        response: { 200: Answered },
      },
    },
    async ({ user, params, body }, reply) =>
      answer(reply, body, await chat.edit(user.id, params.id, params.mid, body)),
  )

  app.post(
    '/api/conversations/:id/regenerate/:mid',
    {
      schema: {
        summary: 'A new answer beside the old one',
        tags,
        ...streams,
        params: OfMessage,
        body: RegenerateBody.nullish(),
        response: { 200: Answered },
      },
    },
    async ({ user, params, body }, reply) => {
      const options = body ?? {}
      return answer(
        reply,
        options,
        await chat.regenerate(user.id, params.id, params.mid, RegenerateBody.parse(options)),
      )
    },
  )

  app.delete(
    '/api/conversations/:id/messages/:mid',
    {
      schema: {
        summary: 'Delete a message and what hangs on it',
        tags,
        params: OfMessage,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      await store.messages.get(conversation.id, params.mid)
      await chat.stopConversation(conversation.id)
      await database.write((tx) => store.messages.removeSubtree(tx, conversation.id, params.mid))
      return { code: 0 as const, message: 'deleted' }
    },
  )

  /** The run as a stream, or its whole answer once it has ended. */
  async function answer(
    reply: FastifyReply,
    options: { stream?: boolean | undefined; stream_mode?: 'cumulative' | 'delta' | undefined },
    run: RunRow,
  ) {
    const channel = await chat.runs.channel(run)
    if (options.stream !== false) {
      streamRun(reply, channel, { mode: options.stream_mode ?? 'cumulative', afterId: 0 })
      return reply
    }
    await ended(channel, reply)
    const [message, ended_run, pending] = await Promise.all([
      store.messages.get(run.conversationId, run.messageId),
      store.runs.find(run.id),
      store.runs.pendingApprovals([run.id]),
    ])
    return {
      code: 0 as const,
      data: {
        message: presentMessage(message),
        run: presentRun(ended_run ?? run, pending.get(run.id) ?? []),
      },
    }
  }
}

/** Waits as a listener of the run, so that a client that hangs up counts as one that left. */
function ended(
  channel: Awaited<ReturnType<ChatService['runs']['channel']>>,
  reply: FastifyReply,
): Promise<void> {
  if (channel.terminal !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      unsubscribe()
      resolve()
    }
    const unsubscribe = channel.subscribe({
      onEntries() {
        if (channel.terminal !== null) finish()
      },
      onClose: finish,
    })
    reply.raw.on('close', finish)
  })
}
