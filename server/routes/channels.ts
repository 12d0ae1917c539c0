// The user's message channels: webhook, e-mail, Telegram.
import { z } from 'zod'
import type { App } from '../http/app.ts'
import type { Channels } from '../messaging/channels.ts'
import { Channel, ChannelList, CreateChannelBody } from '../protocol/channel.ts'
import { Deleted, envelope } from '../protocol/envelope.ts'

export function registerChannelRoutes(app: App, { channels }: { channels: Channels }): void {
  app.get(
    '/api/channels',
    {
      schema: {
        summary: 'List your channels',
        tags: ['channels'],
        response: { 200: envelope(ChannelList) },
      },
    },
    async (request) =>
      ({ code: 0, data: { items: await channels.list(request.user.id) } }) as const,
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
    async (request) =>
      ({ code: 0, data: await channels.create(request.user.id, request.body) }) as const,
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
    async (request) => {
      await channels.remove(request.user.id, request.params.id)
      return { code: 0, message: 'deleted' } as const
    },
  )
}
