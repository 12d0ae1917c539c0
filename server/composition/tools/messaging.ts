// Messages to other programs and people: webhooks, push notifications, channels, and their limits.
import type { FastifyBaseLogger } from 'fastify'
import type { Access } from '../../access/access.ts'
import { createResourceLimits, type ResourceLimits } from '../../access/resource-limits.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import { postMessage } from '../../chat/post-message.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import { createChannelRepository } from '../../db/repositories/deliveries/channels.ts'
import type { Store } from '../../db/store.ts'
import type { Limits } from '../../lib/limits.ts'
import { type Channels, createChannels } from '../../messaging/channels.ts'
import { givenUpNotice } from '../../messaging/given-up-notice.ts'
import { createChannelKinds } from '../../messaging/kinds.ts'
import type { Push } from '../../messaging/push.ts'
import { createWebhooks, type Webhooks } from '../../messaging/webhooks.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { UserId } from '../../protocol/ids.ts'
import { createConfiguredPush } from './push.ts'

/** The dependencies of messages. */
export interface MessagingOptions {
  config: Config
  database: Database
  store: Store
  access: Access
  /** Returns the addresses that mail of a user may not go to yet; undefined: all are allowed. */
  unconfirmed: ((userId: UserId, addresses: readonly string[]) => Promise<string[]>) | undefined
  box: SecretBox
  limits: Limits
  log: FastifyBaseLogger
  now(): Date
}

interface Messaging {
  webhooks: Webhooks
  push: Push
  channels: Channels
  resourceLimits: ResourceLimits
}

/** Sends everything through `fetch`, nothing before the tools are started. */
export function createMessaging(
  { config, database, store, access, unconfirmed, box, limits, log, now }: MessagingOptions,
  fetch: GuardedFetch,
): Messaging {
  const webhooks = createWebhooks({
    repository: store.webhooks,
    fetch,
    secrets: box,
    write: (work) => database.write(work),
    limits,
    now,
    log,
  })
  const push = createConfiguredPush(config, store, { box, fetch, limits, now, log })
  const resourceLimits = createResourceLimits({
    access,
    quotas: store.quotas,
    onReached: webhooks.events.quotaReached,
    now,
  })
  const channels = createChannels({
    repository: createChannelRepository(database),
    kinds: createChannelKinds({
      fetch,
      smtp: config.smtp,
      telegramUrl: config.telegram.api_url,
    }),
    onGivenUp: async ({ userId, conversationId, channel, text, error }) =>
      conversationId === null
        ? null
        : postMessage(
            { database, store, now },
            {
              userId,
              from: null,
              to: conversationId,
              text: givenUpNotice({ channel, text, error }),
            },
          ),
    secrets: box,
    isUniqueViolation: (error) => database.isUniqueViolation(error),
    takeMessages: resourceLimits.takeMessages,
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
    limits,
    messagesPerHour: config.limits.channel_messages_per_hour,
    now,
    log,
  })
  return { webhooks, push, channels, resourceLimits }
}
