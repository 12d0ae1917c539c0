// Messages to other programs and people as configured: webhooks, push notifications, channels, and their limits.
import { z } from 'zod'
import { createResourceLimits } from '../access/resource-limits.ts'
import { postMessage } from '../chat/post-message.ts'
import { createChannels } from '../messaging/channels.ts'
import { givenUpNotice } from '../messaging/given-up-notice.ts'
import { createChannelKinds } from '../messaging/kinds.ts'
import { createPush, PUSH_KEY_SETTING, type Push } from '../messaging/push.ts'
import { receiveChecker } from '../messaging/receive-settings.ts'
import { createWebhooks } from '../messaging/webhooks.ts'
import type { OfferedModels } from '../models/offered-models.ts'
import type { GuardedConnections } from '../net/guarded-fetch.ts'
import type { UserId } from '../protocol/ids.ts'
import { readRunOptions, readRunState } from '../runs/state.ts'
import type { Base } from './base.ts'

/** Without `public_url` only browsers on this machine can subscribe; some push services refuse this subject. */
const LOCAL = 'https://localhost'

/** Returns the addresses that mail of a user may not go to yet. */
export type Unconfirmed = (userId: UserId, addresses: readonly string[]) => Promise<string[]>

/**
 * Sends everything through `fetch`, nothing before the tools are started.
 * @param options.unconfirmed undefined: mail may go to all addresses.
 */
export function createMessaging(
  base: Base,
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
  const { config, database, store, access, box, limits, log, now } = base
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
    async ownChat({ id, userId }) {
      const chat = await store.receiving.privateChat(id, userId)
      return chat === undefined ? null : { chatId: chat.externalId, threadId: chat.threadId }
    },
    onGivenUp: async ({ userId, conversationId, channel, text, failure }) =>
      conversationId === null
        ? null
        : postMessage(
            { database, store, now },
            {
              userId,
              from: null,
              runId: null,
              to: conversationId,
              text: givenUpNotice({ channel, text, failure }),
            },
          ),
    secrets: box,
    isUniqueViolation: (error) => database.isUniqueViolation(error),
    countMessages: resourceLimits.countMessages,
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
    limits,
    messagesPerHour: config.limits.channel_messages_per_hour,
    now,
    log,
  })
  return { webhooks, push: createConfiguredPush(base, fetch), channels, kinds, resourceLimits }
}

/** Push notifications with their dependencies in the store: the server's key, and the runs that they are about. */
function createConfiguredPush(
  { config: { public_url: url }, store, box, limits, log, now }: Base,
  fetch: GuardedConnections,
): Push {
  return createPush({
    repository: store.push,
    fetch,
    secrets: box,
    // Apple's service wants an https or mailto URL with a real domain.
    subject: url?.startsWith('https:') === true ? url : LOCAL,
    keys: {
      get: () => store.settings.get(PUSH_KEY_SETTING, z.string()),
      create: (sealed) => store.settings.create(PUSH_KEY_SETTING, sealed),
    },
    async findRun(id) {
      const run = await store.runs.find(id)
      if (run === undefined) return null
      // A run that refuses approvals belongs to a program, which reads the answer itself.
      const { refusesApprovals, origin } = readRunOptions(run.options)
      // A schedule says itself whom its end is told to.
      const isScheduled = origin?.type === 'schedule' || origin?.type === 'hook'
      if (refusesApprovals === true || isScheduled) return null
      return { ...run, receipt: readRunState(run.state).receipt }
    },
    limits,
    now,
    log,
  })
}
