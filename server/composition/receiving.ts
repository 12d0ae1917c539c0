// Messengers as configured, with what they need of the other modules: sending, deciding, files, models.
import type { Registry } from 'prom-client'
import { AppError, appError } from '../errors.ts'
import { createConversationModel } from '../models/conversation-model.ts'
import { countMessages } from '../observability/counters.ts'
import type { UserId } from '../protocol/ids.ts'
import { ApprovalDecisionBody } from '../protocol/runs/run.ts'
import { createAnswerFiles } from '../receiving/answer-files.ts'
import { type BridgeInbox, createBridgeInbox } from '../receiving/bridge.ts'
import { createReceiving, type Receiving } from '../receiving/receiving.ts'
import { createSenders, type Senders } from '../receiving/senders.ts'
import type { Services } from '../services.ts'
import { openProject } from '../workspace/open-project.ts'
import type { Base } from './base.ts'
import type { Tools } from './tools.ts'

/** How long a link in an email decides. */
const DECISION_LINK_SECONDS = 86_400

/** The messengers of this instance, and who writes there. They do nothing before they lead. */
export function createConfiguredReceiving(
  base: Base,
  {
    chat,
    tools,
    files,
    workspace,
    offeredModels,
    changes,
    metrics,
  }: Pick<Services, 'chat' | 'files' | 'workspace' | 'offeredModels' | 'changes'> & {
    tools: Tools
    metrics: Registry
  },
): {
  receiving: Receiving
  senders: Senders
  bridge: BridgeInbox
  assertChannels(userId: UserId): void
} {
  const { config, database, store, access, limits, instance, log, now, clock } = base
  const { channels, channelKinds, chatSpeech, schedules } = tools
  const address = config.public_url?.replace(/\/+$/, '')
  const isAllowed = (userId: UserId): boolean => access.allowsFeature(userId, 'channels')
  const receiving = createReceiving({
    database,
    store,
    now,
    limits,
    every: clock.every,
    after: clock.after,
    log,
    isShared: instance.sharing !== undefined,
    isAllowed,
    announce: changes.publish,
    observe: countMessages(metrics),
    messengerOf: (type) => channelKinds.get(type)?.messenger ?? null,
    settingsOf: channels.settingsOf,
    addressOf: channels.addressOf,
    approvesHigh: config.approval.channel_high,
    runsPerHour: (userId) => access.quota(userId).channel_runs_per_hour,
    conversationModel: createConversationModel({ store, offeredModels }),
    conversationUrl: (id) =>
      address === undefined ? '' : id === null ? address : `${address}/c/${id}`,
    waitingUrl: () => (address === undefined ? null : `${address}/waiting`),
    async decisionUrl(userId, id) {
      if (address === undefined) return null
      const user = await store.users.find(userId)
      const actor = { userId, username: user?.username ?? null, address: null, details: {} }
      try {
        const link = { userId, id, lifetimeSeconds: DECISION_LINK_SECONDS }
        return `${address}/a/${(await chat.createApprovalLink(link, actor)).token}`
      } catch (error) {
        // Somebody else must decide, or it is decided already.
        if (error instanceof AppError) return null
        throw error
      }
    },
    models: offeredModels.list,
    async storeFile(userId, file) {
      return (await files.uploadOnce(userId, file)).id
    },
    transcribe: tools.speech.offer.transcribe
      ? async (userId, bytes, signal) => (await tools.speech.transcribe(userId, bytes, signal)).text
      : null,
    answerFiles: createAnswerFiles({ store, files, workspaces: workspace.workspaces }),
    send: (userId, id, { text, clientId, files: attached, outside, origin, approval }) =>
      chat.send(userId, id, {
        text,
        attachments: [
          ...attached.map((file_id) => ({ file_id })),
          ...outside.map((file) => ({ ...file, extension: undefined })),
        ],
        client_id: clientId,
        origin,
        // Another mode may have been chosen for the conversation since.
        ...(access.approvalModes(userId).includes(approval) ? { approval } : {}),
      }),
    async stop(userId, runId) {
      await chat.stop(userId, runId)
    },
    async decide(userId, { runId, idRef, callHash, decision }, actor) {
      const body = ApprovalDecisionBody.parse({ id_ref: idRef, decision, call_hash: callHash })
      await chat.decide(userId, runId, body, actor)
    },
    async answer(userId, runId, body, actor) {
      await chat.answerInput(userId, runId, body, actor)
    },
    async restore(userId, projectId, messageId) {
      const { records, checkpoints } = workspace
      const { workspace: project } = await openProject(workspace, userId, projectId, 'change')
      const moment = await records.momentOfMessage(userId, messageId)
      if (moment === undefined) throw appError('message_not_found')
      const first = await records.firstSince(projectId, messageId, moment)
      if (first === undefined) return 0
      const origin = { tool: 'restore', messageId: null, runId: null }
      return (await checkpoints.restore(project, first.id, origin)).restored
    },
  })
  schedules.onRunChange(receiving.runChanged)
  chatSpeech.onStored(receiving.wakeOutbox)
  channels.onChange((userId, id) => {
    changes.publish(userId, { type: 'channel', id, change: 'updated' })
    receiving.channelChanged()
  })
  return {
    receiving,
    bridge: createBridgeInbox({ store, receiving }),
    senders: createSenders({
      database,
      store,
      limits,
      now,
      announce: changes.publish,
      findChannel: channels.find,
    }),
    assertChannels(userId) {
      if (!isAllowed(userId)) throw appError('channels_off')
    },
  }
}
