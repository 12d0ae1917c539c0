// Routes for push notifications: the key that browsers subscribe with, and their subscriptions.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { isSubscriptionKey } from '../../messaging/web-push.ts'
import {
  PushSettings,
  PushSubscriptionBody,
  StoredPushSubscription,
} from '../../protocol/accounts/push.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const tags = ['push']

const body = PushSubscriptionBody.refine(({ keys }) => isSubscriptionKey(keys.p256dh), {
  path: ['keys', 'p256dh'],
  error: 'not a subscription key',
})

/** `/api/push`, `/api/push/subscriptions` and `/api/push/subscriptions/:id`. */
export function registerPushRoutes(app: App, { push }: Pick<Services, 'push'>): void {
  app.get(
    '/api/push',
    {
      schema: {
        summary: 'Get the key with which browsers subscribe to push notifications',
        tags,
        response: { 200: envelope(PushSettings) },
      },
    },
    async () => success({ public_key: await push.publicKey() }),
  )

  app.post(
    '/api/push/subscriptions',
    {
      schema: {
        summary: 'Subscribe a browser to push notifications, or renew its subscription',
        description:
          'Notifies about answers that are ready or failed and about runs that wait for you. A notification has a kind and IDs, but no content. Signing out ends the subscription. Rejects addresses in private networks unless the operator allows them.',
        tags,
        body,
        response: { 200: envelope(StoredPushSubscription) },
      },
    },
    async ({ user, session, body: subscription }) =>
      success({ id: await push.subscribe(user.id, session?.sid ?? null, subscription) }),
  )

  app.delete(
    '/api/push/subscriptions/:id',
    {
      schema: {
        summary: 'End a subscription to push notifications',
        tags,
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async ({ user, params: { id } }) => {
      await push.unsubscribe(user.id, id)
      return deleted
    },
  )
}
