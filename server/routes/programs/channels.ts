// Routes for the user's message channels: webhook, email, Telegram.
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import type { Channels } from '../../messaging/channels.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { Channel, ChannelList, CreateChannelBody } from '../../protocol/programs/channel.ts'
import { deleted, success } from '../envelope.ts'

/** The dependencies of the routes for channels. */
export interface ChannelRouteDependencies {
  channels: Channels
  /** Sends confirmation links to unconfirmed addresses of a new channel; undefined if addresses need no confirmation. */
  askForConfirmation:
    | ((userId: UserId, channel: Channel, acceptLanguage: string | undefined) => Promise<void>)
    | undefined
}

/** `/api/channels` and `/api/channels/:id`. */
export function registerChannelRoutes(
  app: App,
  { channels, askForConfirmation }: ChannelRouteDependencies,
): void {
  app.get(
    '/api/channels',
    {
      schema: {
        summary: 'List your channels',
        tags: ['channels'],
        response: { 200: envelope(ChannelList) },
      },
    },
    async ({ user }) => success({ items: await channels.list(user.id) }),
  )

  app.post(
    '/api/channels',
    {
      schema: {
        summary: 'Create a channel; its secrets are never returned',
        tags: ['channels'],
        body: CreateChannelBody,
        response: { 200: envelope(Channel) },
      },
    },
    async ({ user, body, headers }) => {
      const channel = await channels.create(user.id, body)
      try {
        await askForConfirmation?.(user.id, channel, headers['accept-language'])
      } catch (error) {
        // Removes the channel, because nothing could ever be sent through it.
        await channels.remove(user.id, channel.id)
        throw error
      }
      return success(channel)
    },
  )

  app.delete(
    '/api/channels/:id',
    {
      schema: {
        summary: 'Delete a channel',
        tags: ['channels'],
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      await channels.remove(user.id, params.id)
      return deleted
    },
  )
}
