// Routes for the user's message channels: webhook, email, Telegram.

import { z } from 'zod'
import { confirmChannel } from '../../auth/confirm-channel.ts'
import type { App } from '../../http/app.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { Channel, ChannelList, CreateChannelBody } from '../../protocol/programs/channel.ts'
import type { Services } from '../../services.ts'
import { documentLanguage, folderOf } from '../../sharing/document-texts.ts'
import { deleted, success } from '../envelope.ts'

/** `/api/channels` and `/api/channels/:id`. */
export function registerChannelRoutes(
  app: App,
  { channels, authMode, emailLinks }: Pick<Services, 'channels' | 'authMode' | 'emailLinks'>,
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
        const language = folderOf(documentLanguage(headers['accept-language']))
        if (authMode === 'multi') await confirmChannel(emailLinks, user.id, channel, language)
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
