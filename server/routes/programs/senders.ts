// Routes for the people who write through channels, and for programs that hand over messages.
import { z } from 'zod'
import type { SenderRow } from '../../db/repositories/deliveries/receiving.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Deleted, envelope, PageQuery } from '../../protocol/envelope.ts'
import {
  BridgeAnswer,
  BridgeIncoming,
  MAX_RECEIVED_BYTES,
  PairBody,
  Paired,
  Sender,
  SenderPage,
  SetSenderBody,
} from '../../protocol/programs/channel.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const tags = ['channels']
const InChannel = z.object({ id: z.string().max(64) })
const OneSender = InChannel.extend({ sid: z.string().max(64) })
const DEFAULT_LIMIT = 50
/** Files arrive in base64, beside the other fields. */
const MAX_BODY_BYTES = Math.ceil(MAX_RECEIVED_BYTES * 1.4) + 1_000_000

/** `/api/channels/pair`, `/api/channels/:id/senders` and the routes below, `/api/channels/:id/incoming`. */
export function registerSenderRoutes(
  app: App,
  { senders, access, bridge }: Pick<Services, 'senders' | 'access' | 'bridge'>,
): void {
  app.post(
    '/api/channels/pair',
    {
      schema: {
        summary: 'Pair a person at a messenger with your account',
        description:
          'The code is what the bot told that person. From now on they act as you there. After ten wrong codes in five minutes: 429.',
        tags,
        body: PairBody,
        response: { 200: envelope(Paired) },
      },
    },
    async (request) => {
      access.assertFeature(request.user.id, 'channels')
      const { code } = request.body
      const { sender, channel } = await senders.pair(request.user.id, code, actorOf(request))
      return success({
        channel: { id: channel.id, name: channel.name },
        sender: presentSender(sender),
      })
    },
  )

  app.get(
    '/api/channels/:id/senders',
    {
      schema: {
        summary: 'List the people who write through a channel',
        tags,
        params: InChannel,
        querystring: PageQuery,
        response: { 200: envelope(SenderPage) },
      },
    },
    async ({ user, params, query }) => {
      access.assertFeature(user.id, 'channels')
      const limit = query.limit ?? DEFAULT_LIMIT
      const page = await senders.list(user.id, params.id, { limit, cursor: query.cursor })
      return success({
        items: page.items.map(presentSender),
        next_cursor: page.nextCursor,
        has_more: page.hasMore,
      })
    },
  )

  app.put(
    '/api/channels/:id/senders/:sid',
    {
      schema: {
        summary: 'Block a person, or let them write',
        description:
          'Somebody who has no code yet is let in as the owner of the channel; not through a shared channel or by email (409 `sender_not_paired`).',
        tags,
        params: OneSender,
        body: SetSenderBody,
        response: { 200: envelope(Sender) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      access.assertFeature(user.id, 'channels')
      return success(
        presentSender(
          await senders.set(user.id, params.id, params.sid, body.state, actorOf(request)),
        ),
      )
    },
  )

  app.delete(
    '/api/channels/:id/senders/:sid',
    {
      schema: {
        summary: 'Forget a person, who is a stranger again',
        tags,
        params: OneSender,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      access.assertFeature(request.user.id, 'channels')
      const { id, sid } = request.params
      await senders.remove(request.user.id, id, sid, actorOf(request))
      return deleted
    },
  )

  registerIncoming(app, bridge)
}

function registerIncoming(app: App, bridge: Services['bridge']): void {
  app.post(
    '/api/channels/:id/incoming',
    {
      config: { public: true },
      bodyLimit: MAX_BODY_BYTES,
      // Before the body is read: it may be large.
      async onRequest(request) {
        const { data } = InChannel.safeParse(request.params)
        if (data === undefined) throw appError('channel_receive_off')
        await bridge.channel(data.id, tokenOf(request.headers.authorization))
      },
      schema: {
        summary: 'Hand over a message from a messenger',
        description:
          'For programs that connect a messenger, with the token of a channel of the type `bridge` as bearer token. The same `id` again changes nothing.',
        tags,
        params: InChannel,
        body: BridgeIncoming,
        response: { 202: envelope(BridgeAnswer) },
      },
    },
    async ({ params, body, headers }, reply) => {
      const channel = await bridge.channel(params.id, tokenOf(headers.authorization))
      return await reply.code(202).send(success(await bridge.take(channel, body)))
    },
  )
}

function tokenOf(header: string | undefined): string {
  const token = /^Bearer ([\w-]{1,100})$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw appError('channel_receive_off')
  return token
}

const presentSender = (row: SenderRow): z.infer<typeof Sender> => ({
  id: row.id,
  external_id: row.externalId,
  name: row.name,
  state: row.state,
  user_id: row.userId,
  requested_at: row.requestedAt.toISOString(),
  allowed_at: row.allowedAt?.toISOString() ?? null,
  last_at: row.lastAt.toISOString(),
})
