// Every kind of channel that there is; a new one is its file and its line here.
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import type { ChannelKind } from './channel-kind.ts'
import { createEmailKind, type SmtpSettings } from './email.ts'
import { createTelegramKind } from './telegram.ts'
import { createWebhookKind } from './webhook.ts'

export interface ChannelKindDependencies {
  fetch: GuardedFetch
  smtp: SmtpSettings | undefined
}

export const createChannelKinds = (
  dependencies: ChannelKindDependencies,
): ReadonlyMap<string, ChannelKind> =>
  new Map(
    [
      createWebhookKind(dependencies),
      createEmailKind(dependencies),
      createTelegramKind(dependencies),
    ].map((kind) => [kind.type, kind]),
  )
