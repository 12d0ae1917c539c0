// All kinds of channels; a new kind needs one file and one line here.
import type { GuardedConnections } from '../net/guarded-fetch.ts'
import type { ChannelKind } from './channel-kind.ts'
import { createBridgeKind } from './kinds/bridge.ts'
import { createEmailKind } from './kinds/email.ts'
import { createSlackKind } from './kinds/slack.ts'
import { createTelegramKind } from './kinds/telegram.ts'
import { createWebhookKind } from './kinds/webhook.ts'
import type { SmtpSettings } from './mailer.ts'

/** The dependencies of the kinds of channels. `smtp` is undefined if the server cannot send email. */
export interface ChannelKindDependencies {
  fetch: GuardedConnections
  smtp: SmtpSettings | undefined
  /** Replaces the address of Telegram's Bot API, for example with a self-hosted server. */
  telegramUrl?: string | undefined
  /** Replaces the address of Slack's methods. */
  slackUrl?: string | undefined
  now?(): Date
}

/** By the name that is stored as the type of a channel. */
export const createChannelKinds = (
  dependencies: ChannelKindDependencies,
): ReadonlyMap<string, ChannelKind> =>
  new Map(
    [
      createWebhookKind(dependencies),
      createEmailKind({ ...dependencies, now: dependencies.now ?? (() => new Date()) }),
      createTelegramKind({ fetch: dependencies.fetch, apiUrl: dependencies.telegramUrl }),
      createSlackKind({
        fetch: dependencies.fetch,
        apiUrl: dependencies.slackUrl,
        now: dependencies.now ?? (() => new Date()),
      }),
      createBridgeKind({ fetch: dependencies.fetch, now: dependencies.now ?? (() => new Date()) }),
    ].map((kind) => [kind.type, kind]),
  )
