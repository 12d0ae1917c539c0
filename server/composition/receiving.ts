// Messengers as configured, with what they need of the other modules: sending, deciding, files, models.
import type { Registry } from 'prom-client'
import type { Announcer } from '../changes/change-log.ts'
import { createConversationStart } from '../chat/new-conversation.ts'
import { countMessages } from '../observability/counters.ts'
import { createAnswerFiles } from '../receiving/answer-files.ts'
import { createBridgeInbox } from '../receiving/bridge.ts'
import { createMessageLinks } from '../receiving/links.ts'
import { createPersonActs } from '../receiving/person-acts.ts'
import { createReceiving } from '../receiving/receiving.ts'
import { createSenders } from '../receiving/senders.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'
import type { Tools } from './tools.ts'

/** The messengers of this instance, and who writes there. They do nothing before they lead. */
export function createConfiguredReceiving(
  base: Base,
  parts: Pick<Services, 'chat' | 'files' | 'workspace' | 'offeredModels' | 'changes'> & {
    tools: Tools
    announcer: Announcer
    metrics: Registry
  },
): Pick<Services, 'receiving' | 'senders' | 'bridge'> {
  const { config, database, store, access, limits, instance, log, now, clock } = base
  const { channels, channelKinds, chatSpeech } = parts.tools
  const receiving = createReceiving({
    database,
    store,
    now,
    limits,
    every: clock.every,
    after: clock.after,
    log,
    isShared: instance.sharing !== undefined,
    isAllowed: (userId) => access.allowsFeature(userId, 'channels'),
    announce: parts.changes.publish,
    followRuns: parts.announcer.followRuns,
    observe: countMessages(parts.metrics),
    messengerOf: (type) => channelKinds.get(type)?.messenger ?? null,
    settingsOf: channels.settingsOf,
    addressOf: channels.addressOf,
    approvesHigh: config.approval.channel_high,
    runsPerHour: (userId) => access.quota(userId).channel_runs_per_hour,
    conversationStart: createConversationStart({
      store,
      access,
      offeredModels: parts.offeredModels,
    }),
    ...createMessageLinks({ publicUrl: config.public_url, store, chat: parts.chat }),
    ...createPersonActs({ chat: parts.chat, access, workspace: parts.workspace }),
    models: parts.offeredModels.list,
    async storeFile(userId, file) {
      return (await parts.files.uploadOnce(userId, file)).id
    },
    transcribe: parts.tools.speech.offer.transcribe
      ? async (userId, bytes, signal) =>
          (await parts.tools.speech.transcribe(userId, bytes, signal)).text
      : null,
    answerFiles: createAnswerFiles({
      store,
      files: parts.files,
      workspaces: parts.workspace.workspaces,
    }),
  })
  chatSpeech.onStored(receiving.wakeOutbox)
  channels.onChange((userId, id) => {
    parts.changes.publish(userId, { type: 'channel', id, change: 'updated' })
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
      announce: parts.changes.publish,
      findChannel: channels.find,
    }),
  }
}
