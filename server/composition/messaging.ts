// Messages to other programs and people as configured: webhooks, push notifications, channels, and their limits.
import { z } from 'zod'
import { createResourceLimits } from '../access/resource-limits.ts'
import { postMessage } from '../chat/post-message.ts'
import { appError } from '../errors.ts'
import { type Channels, createChannels } from '../messaging/channels.ts'
import { givenUpNotice } from '../messaging/given-up-notice.ts'
import { createChannelKinds } from '../messaging/kinds.ts'
import { createPush, PUSH_KEY_SETTING, type Push } from '../messaging/push.ts'
import { waitingText } from '../messaging/waiting-notice.ts'
import { createWebhooks } from '../messaging/webhooks.ts'
import type { OfferedModels } from '../models/offered-models.ts'
import type { GuardedConnections } from '../net/guarded-fetch.ts'
import type { UserId } from '../protocol/ids.ts'
import { type ReceiveBody, ReceiveSettings } from '../protocol/programs/channel.ts'
import type { ApprovalPreview } from '../protocol/runs/run-event.ts'
import { readRunOptions, readRunState } from '../runs/state.ts'
import type { TellWaiting } from '../runs/told-request.ts'
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
    checkReceive: receiveChecker(base, offeredModels),
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

/** Checks how a channel is to receive. */
const receiveChecker =
  (
    { store, access, config }: Pick<Base, 'store' | 'access' | 'config'>,
    offeredModels: Pick<OfferedModels, 'assertOffered'>,
  ) =>
  async (userId: UserId, body: ReceiveBody): Promise<ReceiveSettings> => {
    const receive = ReceiveSettings.parse({
      project_id: body.project_id ?? null,
      model: body.model ?? null,
      approval: body.approval ?? 'ask',
      groups: body.groups ?? 'off',
      shared: body.shared ?? false,
    })
    const user = await store.users.find(userId)
    if (receive.shared && (config.auth_mode !== 'multi' || user?.role !== 'admin'))
      throw appError('channel_shared_by_admins')
    // In a channel for everybody, nobody else decides how freely somebody's tools run.
    if (receive.shared && receive.approval !== 'ask')
      throw appError('approval_mode_not_permitted', { mode: receive.approval, available: ['ask'] })
    access.assertApprovalMode(userId, receive.approval)
    if (receive.model !== null) await offeredModels.assertOffered(userId, receive.model)
    if (receive.project_id !== null && !(await store.projects.find(userId, receive.project_id)))
      throw appError('project_not_found')
    return receive
  }

/** Tells people of requests through their browsers and channels. */
export function createTelling(
  { config, store, log }: Pick<Base, 'config' | 'store' | 'log'>,
  { push, channels }: { push: Push; channels: Channels },
): TellWaiting {
  const url =
    config.public_url === undefined ? undefined : `${config.public_url.replace(/\/+$/, '')}/waiting`
  return async ({ through, detail }, request, { run, reader }, signal) => {
    const isOwn = reader === run.userId
    if (through === 'push')
      return await push.tellWaiting(reader, {
        ...(isOwn ? {} : { approver: true }),
        run_id: run.id,
        conversation_id: run.conversationId,
        ...(request.type === 'approval' && request.callHash !== null
          ? {
              approval_id: request.id,
              call_hash: request.callHash,
              deadline: request.deadline?.toISOString() ?? null,
            }
          : {}),
      })
    // The title is of the conversation, which approvers do not see.
    const conversation = isOwn
      ? await store.conversations.find(reader, run.conversationId)
      : undefined
    const owner = isOwn ? undefined : await store.users.find(run.userId)
    const text = waitingText(
      {
        ...request,
        person: owner?.username ?? null,
        preview: detail === 'preview' ? previewText(request.preview) : null,
        url,
      },
      conversation?.title ?? '',
    )
    const name = through.slice('channel:'.length)
    const sent = await channels.send(reader, name, { text, conversationId: null, signal })
    if (sent === null)
      log.warn({ run_id: run.id }, 'a person could not be told of a request: the channel is gone')
  }
}

/** What a preview says in words, or shows. */
const previewText = (preview: ApprovalPreview | null): string =>
  [preview?.display, preview?.command, preview?.diff]
    .filter((part) => part !== undefined && part !== '')
    .join('\n')

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
