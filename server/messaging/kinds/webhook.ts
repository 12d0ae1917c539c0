// Messages sent as JSON by POST to the user's URL, signed when a secret is set.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import { defineChannelKind } from '../channel-kind.ts'
import { postJson } from '../post.ts'

const HeaderName = z.string().regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'not a header name' })
const HeaderValue = z
  .string()
  .max(2_000)
  .regex(/^[\t\x20-\x7e]*$/, { error: 'not a header value' })

/**
 * The body is `{id, channel, text, content, created_at}`: Slack and similar receivers display `text`; Discord displays
 * `content`. With a secret, `X-NanoClaw-Signature: sha256=<HMAC of the body>`.
 */
export const createWebhookKind = (dependencies: { fetch: GuardedFetch }) =>
  defineChannelKind({
    type: 'webhook',
    settings: z.object({
      url: z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL' }).max(2_000),
      secret: z.string().min(8).max(500).optional(),
      headers: z.record(HeaderName, HeaderValue).optional(),
    }),
    // The path of a webhook is often its secret, so only the host is returned.
    present: ({ url }) => ({ url: `${new URL(url).origin}/…` }),
    kept: ['url', 'secret'],
    async send(settings, message, signal) {
      const body = JSON.stringify({
        id: message.id,
        channel: message.channel,
        text: message.text,
        content: message.text,
        created_at: message.createdAt.toISOString(),
      })
      const signature =
        settings.secret === undefined
          ? {}
          : {
              'x-nanoclaw-signature': `sha256=${createHmac('sha256', settings.secret).update(body).digest('hex')}`,
            }
      return postJson({
        fetch: dependencies.fetch,
        url: settings.url,
        body,
        headers: { ...settings.headers, ...signature, 'x-nanoclaw-delivery': message.id },
        signal,
      })
    },
  })
