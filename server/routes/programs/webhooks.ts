// Routes for the user's webhooks: events that are sent to other programs.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import type { Webhooks } from '../../messaging/webhooks.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import {
  CreatedWebhook,
  CreateWebhookBody,
  PatchWebhookBody,
  ReplaceWebhookSecretBody,
  Webhook,
  WebhookDelivery,
} from '../../protocol/programs/webhook.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const params = z.object({ id: z.string().max(64) })
const tags = ['webhooks']

/** `/api/webhooks`, `/api/webhooks/:id` and the routes below. */
export function registerWebhookRoutes(app: App, { webhooks }: Pick<Services, 'webhooks'>): void {
  registerOwnWebhooks(app, webhooks)
  registerDeliveries(app, webhooks)
}

/** Routes that create, change and delete webhooks. */
function registerOwnWebhooks(app: App, webhooks: Webhooks): void {
  app.get(
    '/api/webhooks',
    {
      schema: {
        summary: 'List your webhooks',
        tags,
        response: { 200: envelope(z.object({ items: z.array(Webhook) })) },
      },
    },
    async ({ user }) => success({ items: await webhooks.list(user.id) }),
  )

  app.post(
    '/api/webhooks',
    {
      schema: {
        summary: 'Create a webhook; its secret is returned only once',
        description:
          'Sends events as JSON with POST, signed according to standardwebhooks.com. Rejects addresses in private networks unless the operator allows them.',
        tags,
        body: CreateWebhookBody,
        response: { 200: envelope(CreatedWebhook) },
      },
    },
    async (request) =>
      success(await webhooks.create(request.user.id, request.body, actorOf(request))),
  )

  app.patch(
    '/api/webhooks/:id',
    {
      schema: {
        summary: 'Update a webhook, or enable or disable it',
        tags,
        params,
        body: PatchWebhookBody,
        response: { 200: envelope(Webhook) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      return success(await webhooks.change(user.id, params.id, body, actorOf(request)))
    },
  )

  app.post(
    '/api/webhooks/:id/secret',
    {
      schema: {
        summary: 'Replace the secret of a webhook; the new one is returned only once',
        description:
          'For `overlap_hours` (default: 24), requests carry one signature with the new secret and one with the replaced secret.',
        tags,
        params,
        body: ReplaceWebhookSecretBody,
        response: { 200: envelope(CreatedWebhook) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      const hours = body.overlap_hours
      return success(await webhooks.replaceSecret(user.id, params.id, hours, actorOf(request)))
    },
  )

  app.delete(
    '/api/webhooks/:id',
    {
      schema: {
        summary: 'Delete a webhook and its pending deliveries',
        tags,
        params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await webhooks.remove(request.user.id, request.params.id, actorOf(request))
      return deleted
    },
  )
}

/** Routes that list the deliveries of a webhook and send a test. */
function registerDeliveries(app: App, webhooks: Webhooks): void {
  app.post(
    '/api/webhooks/:id/test',
    {
      schema: {
        summary: 'Send a `webhook.test` event and return the outcome of the first attempt',
        tags,
        params,
        response: { 200: envelope(WebhookDelivery) },
      },
    },
    async ({ user, params: { id } }) => success(await webhooks.test(user.id, id)),
  )

  app.get(
    '/api/webhooks/:id/deliveries',
    {
      schema: {
        summary: 'List the newest deliveries of a webhook',
        tags,
        params,
        response: { 200: envelope(z.object({ items: z.array(WebhookDelivery) })) },
      },
    },
    async ({ user, params: { id } }) => success({ items: await webhooks.deliveries(user.id, id) }),
  )
}
