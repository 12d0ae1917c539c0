// Routes for the user's message channels: create, change, list, remove.

import { z } from 'zod'
import type { Language } from '../../../locales/languages.ts'
import { confirmChannel } from '../../auth/confirm-channel.ts'
import type { App } from '../../http/app.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import {
  AddressToken,
  Channel,
  ChannelList,
  ChannelTest,
  ChannelToken,
  CreateChannelBody,
  CreatedChannel,
  PatchChannelBody,
  TestChannelBody,
} from '../../protocol/programs/channel.ts'
import type { Services } from '../../services.ts'
import { documentLanguage, folderOf } from '../../sharing/document-texts.ts'
import { deleted, success } from '../envelope.ts'

const tags = ['channels']
const OneChannel = z.object({ id: z.string().max(64) })

/** The language of whoever asks. */
const languageOf = (accepted: string | undefined): Language => folderOf(documentLanguage(accepted))

/** `/api/channels`, `/api/channels/test`, `/api/channels/:id` and the tokens below. */
export function registerChannelRoutes(app: App, services: ChannelServices): void {
  registerAll(app, services)
  registerOne(app, services)
}

type ChannelServices = Pick<Services, 'channels' | 'authMode' | 'emailLinks' | 'access'>

/** Routes that list channels, create one, and try one that is not stored. */
function registerAll(app: App, { channels, authMode, emailLinks, access }: ChannelServices): void {
  app.get(
    '/api/channels',
    {
      schema: {
        summary: 'List your channels',
        tags,
        response: { 200: envelope(ChannelList) },
      },
    },
    async ({ user }) => {
      access.assertFeature(user.id, 'channels')
      return success({ items: await channels.list(user.id) })
    },
  )

  app.post(
    '/api/channels',
    {
      schema: {
        summary: 'Create a channel; its secrets are never returned',
        description:
          'With `receive`, people who are paired can write to the agent through it. A channel of the type `bridge` answers the token with which a program hands over messages, once.',
        tags,
        body: CreateChannelBody,
        response: { 200: envelope(CreatedChannel) },
      },
    },
    async ({ user, body, headers }) => {
      access.assertFeature(user.id, 'channels')
      const channel = await channels.create(user.id, body)
      try {
        const language = languageOf(headers['accept-language'])
        if (authMode === 'multi') await confirmChannel(emailLinks, user.id, channel, language)
      } catch (error) {
        // Removes the channel, because nothing could ever be sent through it.
        await channels.remove(user.id, channel.id)
        throw error
      }
      return success(channel)
    },
  )

  app.post(
    '/api/channels/test',
    {
      schema: {
        summary: 'Try the settings of a channel before it is created',
        description:
          'Signs in to the service with them; a `webhook` or `bridge` is sent a short message. Nothing is stored. 200 with `ok: false` if they do not work.',
        tags,
        body: TestChannelBody,
        response: { 200: envelope(ChannelTest) },
      },
    },
    async ({ user, body, headers }) => {
      access.assertFeature(user.id, 'channels')
      const language = languageOf(headers['accept-language'])
      return success(await channels.test(user.id, body, language))
    },
  )
}

/** Routes that try, change and delete one channel, and replace its tokens. */
function registerOne(app: App, { channels, authMode, emailLinks, access }: ChannelServices): void {
  app.post(
    '/api/channels/:id/test',
    {
      schema: {
        summary: 'Try the settings of a channel',
        description: 'As `POST /api/channels/test`, with the stored settings.',
        tags,
        params: OneChannel,
        response: { 200: envelope(ChannelTest) },
      },
    },
    async ({ user, params, headers }) => {
      access.assertFeature(user.id, 'channels')
      const language = languageOf(headers['accept-language'])
      return success(await channels.test(user.id, { id: params.id }, language))
    },
  )

  app.patch(
    '/api/channels/:id',
    {
      schema: {
        summary: 'Change a channel, or whether it receives',
        description:
          '`receive: null` ends receiving; what arrives meanwhile is dropped. `settings` replace those that are shown; secrets stay unless they are named. A channel that could not receive is tried again.',
        tags,
        params: OneChannel,
        body: PatchChannelBody,
        response: { 200: envelope(Channel) },
      },
    },
    async ({ user, params, body, headers }) => {
      access.assertFeature(user.id, 'channels')
      const channel = await channels.change(user.id, params.id, body)
      const language = languageOf(headers['accept-language'])
      if (authMode === 'multi' && body.settings !== undefined)
        await confirmChannel(emailLinks, user.id, channel, language)
      return success(channel)
    },
  )

  app.post(
    '/api/channels/:id/token',
    {
      schema: {
        summary: 'Replace the token with which a program hands over messages',
        tags,
        params: OneChannel,
        response: { 200: envelope(ChannelToken) },
      },
    },
    async ({ user, params }) => {
      access.assertFeature(user.id, 'channels')
      return success({ token: await channels.replaceToken(user.id, params.id) })
    },
  )

  app.post(
    '/api/channels/:id/address-token',
    {
      schema: {
        summary: 'Replace the address to which people write; the old one no longer works',
        tags,
        params: OneChannel,
        response: { 200: envelope(AddressToken) },
      },
    },
    async ({ user, params }) => {
      access.assertFeature(user.id, 'channels')
      return success(await channels.replaceAddress(user.id, params.id))
    },
  )

  app.delete(
    '/api/channels/:id',
    {
      schema: {
        summary: 'Delete a channel',
        tags,
        params: OneChannel,
        response: { 200: Deleted },
      },
    },
    async ({ user, params }) => {
      access.assertFeature(user.id, 'channels')
      await channels.remove(user.id, params.id)
      return deleted
    },
  )
}
