// Messages to other programs and people as configured: webhooks, push notifications, channels, and their limits.
import { createResourceLimits } from '../access/resource-limits.ts'
import { postGivenUp } from '../chat/post-message.ts'
import { findPushedRun } from '../chat/pushed-runs.ts'
import { createChannels } from '../messaging/channels.ts'
import { createChannelKinds } from '../messaging/kinds.ts'
import { createPush, pushSubject } from '../messaging/push.ts'
import { receiveChecker } from '../messaging/receive-settings.ts'
import { createWebhooks } from '../messaging/webhooks.ts'
import type { OfferedModels } from '../models/offered-models.ts'
import type { GuardedConnections } from '../net/guarded-fetch.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Base } from './base.ts'

/** Returns the addresses that mail of a user may not go to yet. */
export type Unconfirmed = (userId: UserId, addresses: readonly string[]) => Promise<string[]>

/**
 * Sends everything through `fetch`, nothing before the tools are started.
 * @param options.unconfirmed undefined: mail may go to all addresses.
 */
export function createMessaging(
  { config, database, store, access, box, limits, log, now }: Base,
  {
    fetch,
    unconfirmed,
    offeredModels,
  }: {
    fetch: GuardedConnections
    unconfirmed: Unconfirmed | undefined
    offeredModels: Pick<OfferedModels, 'assertOffered'>
  },
) {
  const webhooks = createWebhooks({
    repository: store.webhooks,
    audit: store.audit,
    fetch,
    secrets: box,
    write: (work) => database.write(work),
    limits,
    now,
    log,
  })
  const resourceLimits = createResourceLimits({
    access,
    quotas: store.quotas,
    onReached: webhooks.events.quotaReached,
    now,
  })
  const kinds = createChannelKinds({
    fetch,
    smtp: config.smtp,
    telegramUrl: config.telegram.api_url,
    slackUrl: config.slack.api_url,
    now,
  })
  const channels = createChannels({
    repository: store.channels,
    kinds,
    checkReceive: receiveChecker({
      store,
      hasAccounts: config.auth_mode === 'multi',
      assertApprovalMode: access.assertApprovalMode,
      assertOffered: offeredModels.assertOffered,
    }),
    chats: store.receiving,
    onGivenUp: (given) => postGivenUp({ database, store, now }, given),
    secrets: box,
    isUniqueViolation: (error) => database.isUniqueViolation(error),
    countMessages: resourceLimits.countMessages,
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
    limits,
    messagesPerHour: config.limits.channel_messages_per_hour,
    now,
    log,
  })
  const push = createPush({
    repository: store.push,
    fetch,
    secrets: box,
    subject: pushSubject(config.public_url),
    settings: store.settings,
    findRun: findPushedRun(store),
    limits,
    now,
    log,
  })
  return { webhooks, push, channels, kinds, resourceLimits }
}
